import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { createPolicyTasks, type PolicyTasks } from './policy-tasks.ts';

// The thread of policy-threads.ts. It runs one task at a time.

/** Lower priority than reads, which have 10: ingest keeps its throughput, and a policy still compiles on a busy machine. */
const NICE = 15;

// On Linux this sets the priority of the thread. On other systems it would be that of the whole process.
if (process.platform === 'linux') setPriority(0, NICE);

// The YAML parser creates an error for each of tens of thousands of faults; their stacks would take most of its time.
Error.stackTraceLimit = 0;

const tasks = createPolicyTasks();
parentPort?.on('message', ({ name, input }: { name: keyof PolicyTasks; input: never }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(tasks[name](input));
});
