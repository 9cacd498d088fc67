import { type Diagnostic, isHandsWork } from '../diagnostics/diagnostic.ts';

/** All exit codes, as in the table in docs/commands.md. If several apply, {@link firstOf} decides. */
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

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

const precedence: readonly ExitCode[] = [130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0];

/** The exit code with the highest precedence; 0 if the list is empty. */
export function firstOf(codes: readonly ExitCode[]): ExitCode {
  return precedence.find((code) => codes.includes(code)) ?? exitCode.done;
}

/** The result of one target node. */
export type NodeVerdict = 'fine' | 'hands' | 'wrong' | 'unjudged';

/** An unobserved node is `unjudged`; a node waiting for its FileVault password needs a manual step (`hands`). */
export function verdictOf(failures: readonly Diagnostic[]): NodeVerdict {
  if (failures.length === 0) return 'fine';
  return failures.every(isHandsWork) ? 'hands' : 'unjudged';
}

/** The exit code for several nodes: 0 if all are fine, 3 if only manual steps remain, 1 if none is fine, else 4. */
export function codeForNodes(verdicts: readonly NodeVerdict[]): ExitCode {
  const bad = verdicts.filter((verdict) => verdict !== 'fine');
  if (bad.length === 0) return exitCode.done;
  if (bad.every((verdict) => verdict === 'hands')) return exitCode.handsNeeded;
  return verdicts.includes('fine') ? exitCode.partial : exitCode.failed;
}

export const codeFor = ({ exit }: Pick<Diagnostic, 'exit'>): ExitCode => exit ?? exitCode.failed;
