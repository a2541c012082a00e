import { RequestError } from '../errors.ts';
import { createPolicyTasks, type Manifest, type PolicyTasks } from './policy-tasks.ts';
import type { PolicyThreads } from './policy-threads.ts';

/** Generated texts up to this size are parsed synchronously, which takes about a millisecond. All other texts are parsed in a thread. */
const OWN_TEXT_CHARS_MAX = 8 * 1024;

type Compile = PolicyTasks['compile'];

/** Makes, parses and compiles the policies that are saved. */
export class PolicyMaker {
  readonly #threads: PolicyThreads;
  readonly #tasks = createPolicyTasks();

  constructor(threads: PolicyThreads) {
    this.#threads = threads;
  }

  /** The first texts of an agent. */
  async draft(projectId: string, manifest: Manifest): Promise<ReturnType<PolicyTasks['draft']>> {
    if (JSON.stringify(manifest).length <= OWN_TEXT_CHARS_MAX) return this.#tasks.draft(manifest);
    return this.#threads.run(projectId, (ask) => ask('draft', manifest));
  }

  /** Unless the definition is YAML, rejects with body_invalid and every fault. */
  async requireYaml(projectId: string, text: string): Promise<void> {
    const faults = await this.#threads.run(projectId, (ask) => ask('yamlFaults', text));
    const [first] = faults;
    if (first === undefined) return;
    const where = `line ${first.line}, column ${first.column}: ${first.message}`;
    throw new RequestError('body_invalid', `The definition is not valid YAML: ${where}`, {
      errors: faults.map((fault) => ({ path: '/agent_yaml', ...fault })),
    });
  }

  /** The errors of a policy text, or its module. `isOwnText`: the text came from `draft`. */
  async compile(
    projectId: string,
    { isOwnText, ...policy }: Parameters<Compile>[0] & { isOwnText: boolean },
  ): Promise<ReturnType<Compile>> {
    if (isOwnText && policy.policy_yaml.length <= OWN_TEXT_CHARS_MAX) return this.#tasks.compile(policy);
    return this.#threads.run(projectId, (ask) => ask('compile', policy));
  }
}
