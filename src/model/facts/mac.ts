import { type Digest, digestOf } from '../digest.ts';
import type { FactsClock, FactsIdentity, FactsMacosVersion, FactsSoftwareUpdates } from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/** The node's wall clock minus the controller's, with the uncertainty of the observation. */
export type ClockOffset = FactsClock;

/** `sw_vers`. The build letter belongs to Darwin (25x is macOS 26), so the major is never derived from it. */
export type MacosVersion = FactsMacosVersion;

/** `27.0` for `27`, as `softwareupdate` prints the first version of a year. */
export const withMinor = (version: string): string => (version.includes('.') ? version : `${version}.0`);

/**
 * A macOS update offered on a Mac, such as `macOS Tahoe 26.7-25G229`. Apple changes names between releases, so no decision
 * depends on the title.
 */
export type MacosUpdate = ItemOf<FactsSoftwareUpdates>;

/** A Mac's identity. Serial number and UUID are personal data: they are shown, but never logged. */
export type Identity = FactsIdentity;

/**
 * A digest that identifies the same Mac again without revealing its numbers: the hardware UUID has 122 random bits.
 */
export const identityDigest = ({ serial, hardwareUuid }: Identity): Digest =>
  digestOf({ serial, hardwareUuid: hardwareUuid.toUpperCase() });
