import type { Diagnostic } from '../diagnostics/diagnostic.ts';

/** Every exit code there is, by what it means (docs: the table in README). When several hold, {@link firstOf} decides. */
export const exitCode = {
  done: 0,
  failed: 1,
  changesPending: 2,
  handsNeeded: 3,
  partial: 4,
  nothingChanged: 5,
  usage: 64,
  fileInvalid: 65,
  bug: 70,
  leaseHeld: 75,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

const precedence: readonly ExitCode[] = [130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0];

/** The code that wins when several hold; 0 for none. */
export function firstOf(codes: readonly ExitCode[]): ExitCode {
  return precedence.find((code) => codes.includes(code)) ?? exitCode.done;
}

/** How one targeted node came out of a run that only looks or acts once. */
export type NodeVerdict = 'fine' | 'hands' | 'wrong' | 'unjudged';

/** The code for a run over nodes: 0 when all are fine, 3 when only hands are missing, 1 when none is fine, else 4. */
export function codeForNodes(verdicts: readonly NodeVerdict[]): ExitCode {
  const bad = verdicts.filter((verdict) => verdict !== 'fine');
  if (bad.length === 0) return exitCode.done;
  if (bad.every((verdict) => verdict === 'hands')) return exitCode.handsNeeded;
  return verdicts.includes('fine') ? exitCode.partial : exitCode.failed;
}

const usageCodes: ReadonlySet<string> = new Set([
  'cli/usage',
  'cli/no-cluster-file',
  'enroll/no-such-node',
  'sim/unknown-fault',
  'sim/bad-fault-target',
]);
const fileCodes: ReadonlySet<string> = new Set(['cli/cannot-read', 'cli/file-open-to-others']);
const fileAreas: ReadonlySet<string> = new Set(['yaml', 'schema', 'topology', 'version', 'node', 'lock']);

/** The exit code that a diagnostic stands for when it ends the run. */
export function codeFor({ code }: Pick<Diagnostic, 'code'>): ExitCode {
  const [area = ''] = code.split('/');
  if (usageCodes.has(code) || area === 'select') return exitCode.usage;
  if (code === 'cli/needs-yes') return exitCode.nothingChanged;
  if (fileCodes.has(code) || fileAreas.has(area)) return exitCode.fileInvalid;
  return code === 'internal/bug' ? exitCode.bug : exitCode.failed;
}
