import type { CommandRuntime } from '../../model/desired.ts';
import type { StartPhase } from '../contract/driver.ts';

const leader: StartPhase = { ranks: 'leader', until: 'joined' };
const followers: StartPhase = { ranks: 'followers', until: 'joined' };

/** In the order that the file says. */
export function phases({ order }: CommandRuntime): readonly StartPhase[] {
  switch (order) {
    case 'leader-first':
      return [leader, followers];
    case 'followers-first':
      return [followers, leader];
    case 'together':
      return [{ ranks: 'all', until: 'joined' }];
  }
}
