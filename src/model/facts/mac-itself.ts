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
