/**
 * A node's lease: a folder `lease` that one run creates with `mkdir`, containing a file `owner` and a heartbeat counter
 * `heartbeat`. A waiting run checks by its own clock whether the heartbeat changes. If not, the run steals the lease by
 * renaming the folder, which only one run can win, and then checks the renamed folder. It restores a lease that another
 * run took or under which a script runs; scripts that start meanwhile find no lease and do nothing. If the run cannot
 * restore the folder, the next lease waits for the old lease's scripts. Writers work inside the folder, so that they
 * never write to a newer lease.
 */
import { type Fence, leaseLostExit, rootScript, type ScriptEnd } from '../../node/root-script.ts';
import { recordBaselineLines } from '../../rack/uninstall/baseline-setting.ts';
import { sh } from './scripts.generated.ts';

/** An observed lease; without a run if its owner died before signing the lease. */
export interface SeenLease {
  readonly run?: string;
  readonly token?: number;
  readonly heartbeat: number;
  /** All lines of the owner file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The result of an attempt to take a lease. */
export type LeaseAnswer =
  /** The boot session is empty if it could not be read. */
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  | { readonly kind: 'failed'; readonly text: string };

export function readLeaseAnswer({ exit, stdout, stderr }: ScriptEnd): LeaseAnswer {
  const [first = '', ...lines] = stdout.split('\n');
  const isSuccess = exit.kind === 'exited' && exit.code === 0;
  const [, token, bootSession = ''] = /^@taken (\d{1,15}) (\S*)$/.exec(first) ?? [];
  if (isSuccess && token !== undefined) return { kind: 'taken', token: Number(token), bootSession };
  if (isSuccess && first === '@held') return { kind: 'held', lease: seenLease(lines) };
  return { kind: 'failed', text: stderr.trim().split('\n').at(-1) || 'no message' };
}

function seenLease(lines: readonly string[]): SeenLease {
  const entries = lines.flatMap((line) => {
    const [, key, value] = /^\|([a-z]+)=(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key, value ?? ''] as const];
  });
  const { heartbeat, ...fields } = Object.fromEntries(entries) as Readonly<Record<string, string>>;
  const { run, token } = fields;
  const signed = run === undefined || !/^\d{1,15}$/.test(token ?? '') ? {} : { run, token: Number(token) };
  return { ...signed, heartbeat: /^\d{1,15}$/.test(heartbeat ?? '') ? Number(heartbeat) : 0, fields };
}

/** The run that requests a lease. Every value is one line. */
export interface LeaseClaim {
  readonly run: string;
  /** `user@host`. */
  readonly owner: string;
  readonly verb: string;
  readonly phase: string;
  /** The controller's id. */
  readonly controller: string;
  /** The run's process on its controller, with its start time. */
  readonly pid: number;
  readonly start: string;
  /** ISO 8601, by the controller's clock. */
  readonly since: string;
}

/** The owner file's lines, run first; the node adds the token. */
function signed({ run, ...rest }: LeaseClaim) {
  const lines = Object.entries(rest).map(([key, value]) => `${key}=${oneLine(String(value))}`);
  return { run: oneLine(run), lines };
}

/** Called by `sign-lease.sh`, so that every leased node has a baseline. */
const recordBaseline = (): string => `record_baseline() {
${recordBaselineLines()}
}
`;

export function takeLeaseScript(rootPrefix: string, claim: LeaseClaim): string {
  const { run, lines } = signed(claim);
  return rootScript(rootPrefix, recordBaseline() + sh.takeLease({ run, hasty: false }, lines));
}

/** @param isPatient true if a script still running under the lease prevents the steal */
export function stealLeaseScript(rootPrefix: string, claim: LeaseClaim, seen: SeenLease, isPatient = true): string {
  const { run, lines } = signed(claim);
  const values = {
    run,
    hasty: !isPatient,
    seen_run: seen.run ?? '',
    seen_token: seen.token ?? '',
    seen_heartbeat: seen.heartbeat,
  };
  return rootScript(rootPrefix, recordBaseline() + sh.stealLease(values, lines));
}

/** Increments the heartbeat. For scripts that run in the lease's folder and have verified their lease. */
export const leaseHeartbeat = `${sh.leaseHeartbeat({})}
move_heartbeat`;

/** Exits with 75 if this run no longer has the lease. */
export const renewLeaseScript = (rootPrefix: string, { run, token }: Fence, phase = ''): string =>
  rootScript(rootPrefix, sh.renewLease({ run, token, phase: oneLine(phase), lost: leaseLostExit }));

/** Exits with 75 if this run no longer has the lease, and with 73 if a script still runs under it. */
export const releaseLeaseScript = (rootPrefix: string, { run, token }: Fence): string =>
  rootScript(rootPrefix, sh.releaseLease({ run, token, hasty: false, lost: leaseLostExit }));

/** Owner files are read line by line. */
const oneLine = (text: string): string => text.replaceAll(/[\0-\x1f\x7f]/g, ' ');
