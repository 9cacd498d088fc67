import { type Digest, digestOf } from '../digest.ts';

/** What of a Mac no other one has. */
export interface MacIdentity {
  readonly serial: string;
  readonly hardwareUuid: string;
}

/**
 * A digest by which the same Mac is known again, and from which neither number can be found out: the hardware UUID has
 * 122 random bits.
 */
export const identityDigest = ({ serial, hardwareUuid }: MacIdentity): Digest =>
  digestOf({ serial, hardwareUuid: hardwareUuid.toUpperCase() });
