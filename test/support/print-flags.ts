import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

// Loaded before a service (NODE_OPTIONS=--import): it prints the flags of V8 that it sets.
const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flags) => {
  process.stderr.write(`sets ${flags}\n`);
  setFlagsFromString(flags);
};
syncBuiltinESMExports();
