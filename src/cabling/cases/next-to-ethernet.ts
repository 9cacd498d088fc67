import type { CasePlace } from './mac-case.ts';

/**
 * Receptacle 1 of a Mac Studio. Thunderbolt 1 is `en2` in a published capture of Mac15,14; exo says in its README and
 * its pull request 1551 that `en2` of a Mac Studio is the one next to Ethernet; Ethernet stands to the right of the four
 * Thunderbolt sockets on the back. Nobody confirmed the three together: `docs/unverified.md`.
 */
export const nextToEthernet: CasePlace = {
  receptacle: 1,
  side: 'back',
  column: 4,
  words: 'back, next to Ethernet',
  source: 'exo-explore/exo README and pull request 1551',
};
