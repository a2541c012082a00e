import { DecisionError } from '../govern/decision-errors.ts';
import type { CallOptions, PolicyRun } from '../govern/run.ts';

export type AdmittingRun = Pick<PolicyRun, 'admit'>;

type GovernedCall = CallOptions & { run: AdmittingRun; tool: string; args: unknown };

type Endings<Result> = {
  /** Runs the tool on the arguments that were decided on. */
  execute: (args: unknown) => Result | Promise<Result>;
  /** The result that tells the model why the tool did not run. */
  tell: (refusal: DecisionError) => Result | Promise<Result>;
};

/**
 * Decides one call, then executes it or tells the model why not. All other errors are thrown: errors of the tool belong to the framework,
 * as do those that an approver throws to pause a run.
 */
export async function callOrTell<Result>(
  { run, tool, args, ...options }: GovernedCall,
  { execute, tell }: Endings<Result>,
): Promise<Result> {
  let decided: unknown;
  try {
    const admitted = await run.admit(tool, args, options);
    decided = admitted();
  } catch (error) {
    if (error instanceof DecisionError) return tell(error);
    throw error;
  }
  return execute(decided);
}
