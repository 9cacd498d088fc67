/** Power settings on mains. Minutes; 0 is never. `unsupported` when the Mac cannot do it at all. */
export interface PowerSettings {
  readonly sleepMinutes: number;
  readonly diskSleepMinutes: number;
  readonly restartAfterPowerLoss: boolean | 'unsupported';
}

/** `iogpu.wired_limit_mb`; 0 is macOS's own default of about three quarters of the memory. Lost at every reboot. */
export interface WiredLimit {
  readonly megabytes: number;
}

/** The names of a Mac as its network preferences keep them; one that was never set is absent. */
export interface MacNames {
  readonly computerName?: string;
  /** The one of Bonjour, without `.local`. */
  readonly localHostName?: string;
  readonly hostName?: string;
}

/** One volume, by its path, and whether Spotlight indexes it; `other` is a state in words that are not known. */
export interface SpotlightVolume {
  readonly volume: string;
  readonly state: 'on' | 'off' | 'other';
}

/** One agent that looks through photos, and whether launchd starts it in a session of the ssh user at the screen. */
export interface PhotosAgent {
  readonly agent: string;
  readonly state: 'on' | 'off';
}

/** The node's wall clock minus the controller's, with the half-width of what one observation can resolve. */
export interface ClockOffset {
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}
