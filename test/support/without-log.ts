import { Sequencer } from '../../server/log/sequencer.ts';

// Loaded before a service (NODE_OPTIONS=--import): its records get their salts and insert numbers, but stay out of the log.
Sequencer.prototype.start = () => undefined;
