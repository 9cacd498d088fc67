import type { FactsForeignDaemons, FactsPanicReports, FactsServices } from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/**
 * One of our launchd services. `behind`: the placements that a gateway reports on its port, empty if it does not
 * listen. The last exit reads `0`, `1`, `78: EX_CONFIG`, `(never exited)`, `Killed: 9` after a signal, or
 * `OS_REASON_CODESIGNING` if launchd gives a reason.
 */
export type LaunchdService = ItemOf<FactsServices>;

export const neverExited = '(never exited)';

/** What an exit of a service shows about its cause, and what to do. */
interface ExitCause {
  readonly pattern: RegExp;
  /** Completes `OS_REASON_DYLD: `. */
  readonly words: string;
  readonly cure: string;
}

/**
 * Known causes. launchd exits with 78 for a program that it cannot start, before the program can log anything; a program
 * may also exit with 78 itself.
 *
 * @see XNU: bsd/sys/reason.h and kern_memorystatus.h for the names of reasons
 */
const exitCauses: readonly ExitCause[] = [
  {
    pattern: /^78: EX_CONFIG$/,
    words: 'launchd probably could not start the program',
    cure: 'If the log is empty, launchd could not open the log or the program, or the program was replaced after launchd loaded it. Check that the account of the service may write the log and run the program. Then run apply, which loads the service again.',
  },
  {
    pattern: /^JETSAM_REASON_MEMORY_/,
    words: 'it was stopped to free memory',
    cure: 'Give the placement a smaller context, fewer parallel requests, or more nodes, and close other programs on this Mac.',
  },
  {
    pattern: /^OS_REASON_CODESIGNING$/,
    words: 'the code signature of the program or of a library is not valid',
    cure: 'Install the runtime again: its program or a library was changed after it was signed, or replaced after launchd loaded it.',
  },
  {
    pattern: /^OS_REASON_DYLD$/,
    words: 'a library that the program needs is missing or incompatible',
    cure: 'Install the runtime again, in a version for this macOS.',
  },
];

export const exitCause = (lastExit = ''): ExitCause | undefined =>
  exitCauses.find(({ pattern }) => pattern.test(lastExit));

/** True for a reason of macOS, such as `OS_REASON_DYLD`. */
export const isExitReason = (lastExit = ''): boolean => /^[A-Z]{1,20}_[A-Z0-9_]{1,80}$/.test(lastExit);

/** The last exit in `launchctl print`: a reason if its form is known, because it tells more than a code. */
export function lastExitOf(fields: ReadonlyMap<string, string>): string | undefined {
  const reason = fields.get('last exit reason');
  if (isExitReason(reason)) return reason;
  const code = fields.get('last exit code');
  return code === undefined || code === neverExited ? (fields.get('last terminating signal') ?? code) : code;
}

/** The fields that {@link lastExitOf} reads. */
export const exitKeys: readonly string[] = ['last exit code', 'last terminating signal', 'last exit reason'];

/** `exited (1)`, `was ended by a signal (Killed: 9)`, or `exited` if launchd does not report how. */
export function exitWords(lastExit = neverExited): string {
  if (lastExit === neverExited) return 'exited';
  const cause = exitCause(lastExit)?.words;
  const how = cause === undefined ? lastExit : `${lastExit}: ${cause}`;
  if (isExitReason(lastExit)) return `was ended by macOS (${how})`;
  return /^[A-Z]/.test(lastExit) ? `was ended by a signal (${how})` : `exited (${how})`;
}

/** True if a service has a process, or if its state is unknown. */
export const mayRun = ({ state }: LaunchdService): boolean => state === 'running' || state === 'unknown';

/** Prefix of rank labels; the placement's name follows. */
export const rankLabelPrefix = 'dev.meshwright.rank.';

/** The placement whose rank this service runs; undefined for other services. */
export const rankPlacement = ({ label }: LaunchdService): string | undefined =>
  label.startsWith(rankLabelPrefix) ? label.slice(rankLabelPrefix.length) : undefined;

/** A foreign daemon with a plist on the node. */
export type ForeignDaemon = ItemOf<FactsForeignDaemons>;

/** A kernel panic report. */
export type PanicReport = ItemOf<FactsPanicReports>;

/**
 * Foreign daemons known from public code that change the cables' network on their own. `habit` completes a sentence
 * about what the daemon does repeatedly. The plists are in `/Library/LaunchDaemons`, named after the labels.
 *
 * @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift and uninstall-exo.sh; its issues 1158, 2007, 2067, 2279
 * @see SQCU/mesh: install.sh
 */
export const knownDaemons = [
  {
    label: 'io.exo.networksetup',
    owner: 'exo',
    habit: 'removes the Thunderbolt Bridge and resets every cable to DHCP, at each start and every 30 minutes',
  },
  {
    label: 'io.mesh.fabric',
    owner: 'SQCU/mesh',
    habit: 'removes the Thunderbolt Bridge and sets its own cable addresses, at each start',
  },
  { label: 'io.mesh.keeper', owner: 'SQCU/mesh', habit: 'sets its own cable addresses again, every minute' },
];
