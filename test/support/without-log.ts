import { Sequencer } from '../../server/log/sequencer.ts';

// Loaded before a service (NODE_OPTIONS=--import): its records get their salts and the numbers of their inserts, and stay out of the log.
Sequencer.prototype.start = () => undefined;
