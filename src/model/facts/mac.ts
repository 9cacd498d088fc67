import { type Digest, digestOf } from '../digest.ts';
import type { FactsClock, FactsIdentity, FactsMacosVersion, FactsSoftwareUpdates } from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/** The node's wall clock minus the controller's, with the uncertainty of the observation. */
export type ClockOffset = FactsClock;

/** From `sw_vers`. The build's letter belongs to Darwin (25x is macOS 26), so it never determines the major version. */
export type MacosVersion = FactsMacosVersion;

/** `27.0` for `27`, as `softwareupdate` prints the first version of a year. */
export const withMinor = (version: string): string => (version.includes('.') ? version : `${version}.0`);

/** A macOS update offered on a Mac: `macOS Tahoe 26.7-25G229`. Apple changes names, so no decision uses them. */
export type MacosUpdate = ItemOf<FactsSoftwareUpdates>;

/** A Mac's identity. Its serial number and UUID are personal data: they can be shown, but are never logged. */
export type Identity = FactsIdentity;

/** A digest that identifies a Mac without revealing its numbers: the hardware UUID has 122 random bits. */
export const identityDigest = ({ serial, hardwareUuid }: Identity): Digest =>
  digestOf({ serial, hardwareUuid: hardwareUuid.toUpperCase() });
