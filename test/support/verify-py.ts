import { runCommand } from './processes.ts';

/** Runs verify.py with each list of arguments, in one process: starting Python takes longer than verifying a case. */
const RUN_ALL = `
import contextlib, io, json, sys
sys.path.insert(0, "docs")
import verify
ended = []
for arguments in json.loads(sys.argv.pop()):
    sys.argv[1:] = arguments
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            verify.main()
        except SystemExit as end:
            ended.append([end.code, output.getvalue()])
print(json.dumps(ended))`;

/** The results of verify.py for each of these: its exit code, or why it could not run, and its report. */
export async function runPython(
  runs: Record<string, string>[],
): Promise<[code: number | string, output: string][]> {
  const args = runs.map((options) => [
    '--json',
    ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]),
  ]);
  const { stdout, stderr } = await runCommand('python3', ['-B', '-c', RUN_ALL, JSON.stringify(args)]);
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout) as [code: number | string, output: string][];
}
