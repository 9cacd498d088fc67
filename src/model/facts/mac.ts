import { type Digest, digestOf } from '../digest.ts';

/** The node's wall clock minus the controller's, with the uncertainty of the observation. */
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

/** A macOS update offered on a Mac. */
export interface MacosUpdate {
  /** As `softwareupdate --install` takes it: `macOS Tahoe 26.7-25G229`. */
  readonly label: string;
  /** Printed by the tool. Apple changes names between releases, so no decision depends on the title. */
  readonly title: string;
  readonly version: string;
  /** Absent if the label does not end with a build. */
  readonly build?: string;
}

/** A Mac's identity. Serial number and UUID are personal data: they are shown, but never logged. */
export interface Identity {
  readonly serial: string;
  readonly hardwareUuid: string;
}

/**
 * A digest that identifies the same Mac again without revealing its numbers: the hardware UUID has 122 random bits.
 */
export const identityDigest = ({ serial, hardwareUuid }: Identity): Digest =>
  digestOf({ serial, hardwareUuid: hardwareUuid.toUpperCase() });
