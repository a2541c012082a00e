import { readFileSync } from 'node:fs';

// Loaded before the service (NODE_OPTIONS=--import): its clock runs as many milliseconds ahead as the file says.
const path = process.env['GATE_TEST_CLOCK_FILE'];
const now = Date.now.bind(Date);

if (path !== undefined) Date.now = () => now() + Number(readFileSync(path, 'utf8'));
