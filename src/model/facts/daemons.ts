/** One of our own launchd services; `behind`: whom a doorman names at its port, nobody where it does not listen. */
export interface LaunchdService {
  readonly label: string;
  /** `not-loaded` when its plist lies there and launchd does not know it. */
  readonly state: 'running' | 'waiting' | 'not-loaded';
  readonly pid?: number;
  readonly runs?: number;
  /** As launchd prints it: `0`, `1`, `78: EX_CONFIG`, `(never exited)`, or `Killed: 9` where a signal ended it. */
  readonly lastExit?: string;
  readonly behind?: readonly string[];
}

const neverExited = '(never exited)';

/** `exited (78: EX_CONFIG)`, `was ended by a signal (Killed: 9)`, or `exited` if launchd does not report how. */
export function exitWords(lastExit = neverExited): string {
  if (lastExit === neverExited) return 'exited';
  return /^[A-Z]/.test(lastExit) ? `was ended by a signal (${lastExit})` : `exited (${lastExit})`;
}

/** What the labels of ranks begin with; the name of their placement follows. */
export const rankLabelPrefix = 'dev.meshwright.rank.';

/** The placement whose rank a service is. */
export const rankPlacement = ({ label }: LaunchdService): string | undefined =>
  label.startsWith(rankLabelPrefix) ? label.slice(rankLabelPrefix.length) : undefined;

/** A background service of somebody else that sets the network of cables; its plist lies on the node. */
export interface ForeignDaemon {
  readonly label: string;
  readonly isLoaded: boolean;
  /** By `launchctl disable`: then launchd does not load it at the next start either. */
  readonly isDisabled: boolean;
}

/** The report of a kernel panic. */
export interface PanicReport {
  /** Of its file. */
  readonly name: string;
  /** When it was written; absent where it does not say so. */
  readonly atEpochSeconds?: number;
  /** The first line of what the kernel said. */
  readonly reason?: string;
  /** The kernel extensions that its backtrace goes through. */
  readonly extensions: readonly string[];
}

/** A background service of somebody else that sets the network of cables by itself. */
interface KnownDaemon {
  readonly label: string;
  /** Whose it is, for people. */
  readonly owner: string;
  /** What it does again and again, as the end of a sentence. */
  readonly habit: string;
}

/**
 * The network daemons that are known from public code; their plists lie in `/Library/LaunchDaemons` under their labels.
 *
 * @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift and uninstall-exo.sh; its issues 1158, 2007, 2067, 2279
 * @see SQCU/mesh: install.sh
 */
export const knownDaemons: readonly KnownDaemon[] = [
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
  {
    label: 'io.mesh.keeper',
    owner: 'SQCU/mesh',
    habit: 'sets its own cable addresses again, every minute',
  },
];
