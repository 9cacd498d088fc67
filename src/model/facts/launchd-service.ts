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

/** `exited (78: EX_CONFIG)`, `was ended by a signal (Killed: 9)`, or `exited` where launchd does not say how. */
export function exitWords(lastExit = neverExited): string {
  if (lastExit === neverExited) return 'exited';
  return /^[A-Z]/.test(lastExit) ? `was ended by a signal (${lastExit})` : `exited (${lastExit})`;
}
/** What the labels of ranks begin with; the name of their placement follows. */
export const rankLabelPrefix = 'dev.meshwright.rank.';

/** The placement whose rank a service is. */
export const rankPlacement = ({ label }: LaunchdService): string | undefined =>
  label.startsWith(rankLabelPrefix) ? label.slice(rankLabelPrefix.length) : undefined;
