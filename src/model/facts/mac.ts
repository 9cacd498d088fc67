import { type Digest, digestOf } from '../digest.ts';

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

/** `sw_vers`. The build letter belongs to Darwin (25x is macOS 26), so the major is never derived from it. */
export interface MacosVersion {
  readonly version: string;
  /** `ProductVersionExtra` of a background security improvement, such as `(a)`. */
  readonly extra?: string;
  readonly build: string;
}

/** `27.0` for `27`, as `softwareupdate` prints the first version of a year. */
export const withMinor = (version: string): string => (version.includes('.') ? version : `${version}.0`);

/** One update of macOS that a Mac offers to install. */
export interface MacosUpdate {
  /** As `softwareupdate --install` takes it: `macOS Tahoe 26.7-25G229`. */
  readonly label: string;
  /** Printed by the tool. Apple changes names between releases, so no decision depends on the title. */
  readonly title: string;
  readonly version: string;
  /** Absent where the label does not end with a build. */
  readonly build?: string;
}

/** What kind of Mac it is. `memoryBytes` is `hw.memsize` (512 GB = 2^39). */
export interface Hardware {
  readonly model: string;
  readonly chip: string;
  readonly memoryBytes: number;
}

/** Which Mac it is. Serial and UUID are personal data: they are shown, but never put into a log line. */
export interface Identity {
  readonly serial: string;
  readonly hardwareUuid: string;
}

/** The place of a receptacle on the case that the Mac itself reports. */
export interface ReceptaclePlace {
  /** The number that macOS prints. */
  readonly receptacle: number;
  /** In the words of the device tree: `back-right-middle`. */
  readonly location: string;
}

/** Which boot this is. The UUID decides; the time moves when the clock is set. */
export interface BootSession {
  readonly uuid: string;
  readonly bootedAtEpochSeconds: number;
}

/** Room on the data volume. */
export interface DiskSpace {
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/** What of a Mac no other one has. */
interface MacIdentity {
  readonly serial: string;
  readonly hardwareUuid: string;
}

/**
 * A digest by which the same Mac is known again, and from which neither number can be found out: the hardware UUID has
 * 122 random bits.
 */
export const identityDigest = ({ serial, hardwareUuid }: MacIdentity): Digest =>
  digestOf({ serial, hardwareUuid: hardwareUuid.toUpperCase() });
