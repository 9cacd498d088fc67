import type { MacState } from './mac.ts';

const pageBytes = 16_384;

/** What macOS itself has wired, as a share of the memory: 1434855 of 33554432 pages were on a Mac Studio of 512 GiB. */
const macosShare = 1_434_855 / 33_554_432;

/** What a killed process leaves wired, as a share of the memory. */
const leakedShare = 0.25;

/** The bytes that are wired on a Mac on which nothing runs but macOS. */
export const wiredByMacos = ({ memoryBytes }: MacState): number => wholePages(memoryBytes * macosShare);

/** The Mac after a process was killed: one that leaks keeps a share of its memory wired, until its next start. */
export function afterKill(mac: MacState): MacState {
  if (!mac.ailments.leaksWired) return mac;
  const leakedWiredBytes = wholePages(mac.memoryBytes * leakedShare);
  return mac.ailments.leakedWiredBytes === leakedWiredBytes
    ? mac
    : { ...mac, ailments: { ...mac.ailments, leakedWiredBytes } };
}

const wholePages = (bytes: number): number => Math.round(bytes / pageBytes) * pageBytes;
