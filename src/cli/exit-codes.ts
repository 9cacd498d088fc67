import { fileCodes } from '../diagnostics/codes/codes-file.ts';
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

/** A node that was not observed is unjudged; one that only waits for its FileVault password needs hands. */
export function verdictOf(failures: readonly Diagnostic[]): NodeVerdict {
  if (failures.length === 0) return 'fine';
  return failures.every((one) => one.code === 'ssh/locked-at-filevault') ? 'hands' : 'unjudged';
}

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
  'endpoint/nothing-to-close',
  'enroll/no-such-node',
  'sim/unknown-fault',
  'sim/bad-fault-target',
]);
/** A file that cannot be read, judged or agreed to; those of `codes-file.ts` are about what stands in one. */
const unusableFiles: ReadonlySet<string> = new Set([
  'cli/cannot-read',
  'cli/file-open-to-others',
  'lock/unresolved',
  'plan/unreadable',
  'playbook/unknown-node',
  'playbook/no-node-chosen',
  'playbook/unknown-placement',
  'playbook/unknown-field',
  'playbook/not-published',
]);
/** What ends a run before anything was changed, because somebody has to agree first. */
const unagreed: ReadonlySet<string> = new Set([
  'cli/needs-yes',
  'launch/held',
  'launch/hold-unseen',
  'launch/account',
  'launch/needs-reboot',
  'launch/reboot-unseen',
  'plan/stale',
  'plan/not-allowed',
]);

/** The exit code that a diagnostic stands for when it ends the run. */
export function codeFor({ code }: Pick<Diagnostic, 'code'>): ExitCode {
  const [area = ''] = code.split('/');
  if (usageCodes.has(code) || area === 'select') return exitCode.usage;
  if (unagreed.has(code)) return exitCode.nothingChanged;
  const isOfFile = area === 'placement' || Object.hasOwn(fileCodes, code);
  if (unusableFiles.has(code) || isOfFile) return exitCode.fileInvalid;
  if (code === 'lease/held') return exitCode.leaseHeld;
  return code === 'internal/bug' ? exitCode.bug : exitCode.failed;
}
