/** One of our own launchd services; `behind`: whom a doorman names at its port, nobody where it does not listen. */
export interface LaunchdService {
  readonly label: string;
  /** `not-loaded` when its plist lies there and launchd does not know it. */
  readonly state: 'running' | 'waiting' | 'not-loaded';
  readonly pid?: number;
  readonly runs?: number;
  /** As launchd prints it: `0`, `1`, `78: EX_CONFIG` or `(never exited)`. */
  readonly lastExit?: string;
  readonly behind?: readonly string[];
}
