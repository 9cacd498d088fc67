import { fileCodes } from '../diagnostics/codes/codes-file.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';

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

/** One of the exit codes. */
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
  return failures.every((one) => one.code === 'ssh/locked-at-filevault') ? 'hands' : 'unjudged';
}

/** The exit code for several nodes: 0 if all are fine, 3 if only manual steps remain, 1 if none is fine, else 4. */
export function codeForNodes(verdicts: readonly NodeVerdict[]): ExitCode {
  const bad = verdicts.filter((verdict) => verdict !== 'fine');
  if (bad.length === 0) return exitCode.done;
  if (bad.every((verdict) => verdict === 'hands')) return exitCode.handsNeeded;
  return verdicts.includes('fine') ? exitCode.partial : exitCode.failed;
}

const usageCodes: ReadonlySet<string> = new Set([
  'cli/usage',
  'cli/no-cluster-file',
  'endpoint/nothing-to-close',
  'enroll/no-such-node',
  'sim/unknown-fault',
  'sim/bad-fault-target',
]);
/** Problems with the file itself. Problems with its contents have the codes in `codes-file.ts`. */
const unusableFiles: ReadonlySet<string> = new Set([
  'cli/cannot-read',
  'cli/file-open-to-others',
  'lock/unresolved',
  'plan/unreadable',
  'playbook/unknown-node',
  'playbook/no-node-chosen',
  'playbook/unknown-placement',
  'playbook/unknown-field',
  'playbook/leaves-stopped',
  'playbook/not-published',
]);
/** Problems that end a run before it has changed anything, because a person has to decide first. */
const unagreed: ReadonlySet<string> = new Set([
  'cables/in-use',
  'cables/kernel-unseen',
  'cables/no-program',
  'cables/no-reserve',
  'cables/probe-differs',
  'cables/unfit',
  'cli/needs-yes',
  'launch/held',
  'launch/hold-unseen',
  'launch/account',
  'launch/needs-reboot',
  'launch/reboot-unseen',
  'plan/stale',
  'trust/declined',
  'trust/needed',
  'plan/not-allowed',
]);

/** The exit code of a run that ends with this diagnostic. */
export function codeFor({ code }: Pick<Diagnostic, 'code'>): ExitCode {
  const [area = ''] = code.split('/');
  if (usageCodes.has(code) || area === 'select') return exitCode.usage;
  if (unagreed.has(code)) return exitCode.nothingChanged;
  const isOfFile = area === 'placement' || Object.hasOwn(fileCodes, code);
  if (unusableFiles.has(code) || isOfFile) return exitCode.fileInvalid;
  if (code === 'lease/held') return exitCode.leaseHeld;
  return code === 'internal/bug' ? exitCode.bug : exitCode.failed;
}
