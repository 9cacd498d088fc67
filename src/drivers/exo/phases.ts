import type { StartPhase } from '../contract/driver.ts';

/** The forced master first: one that came later would take over from another and everything would begin again. */
export const phases: readonly StartPhase[] = [
  { ranks: 'leader', until: 'joined' },
  { ranks: 'followers', until: 'joined' },
];
