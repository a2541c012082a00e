import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before a service or a command (NODE_OPTIONS=--import): its file system reports that no space is free.
const { statfsSync } = fs;
fs.statfsSync = ((path: string) => Object.assign(statfsSync(path), { bavail: 0 })) as typeof statfsSync;
syncBuiltinESMExports();
