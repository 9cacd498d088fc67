import type { DesiredFleet } from '../../../model/desired.ts';
import { mapKnown } from '../../seen-fact.ts';
import { settingResource } from '../../setting.ts';
import { spotlightState } from './spotlight-state.ts';

const wanted = ({ system }: DesiredFleet): 'off' | undefined =>
  system.backgroundServices === 'stop' ? 'off' : undefined;

const key = 'system.backgroundServices';

/** Spotlight's index of every volume. @see mdutil(1) */
export const spotlight = settingResource<'on' | 'off'>({
  kind: 'spotlight',
  wanted,
  observed: (facts) => spotlightState(facts.spotlight),
  words: (value) => (value === 'on' ? 'indexes the disk' : 'indexes nothing'),
  key,
  call: () => ({ name: 'stop-spotlight', args: {} }),
});

/** The backups that Time Machine makes by itself. @see tmutil(8) */
export const timeMachine = settingResource<'on' | 'off'>({
  kind: 'time-machine',
  wanted,
  observed: (facts) => facts['time-machine'],
  words: (value) => (value === 'on' ? 'makes backups by itself' : 'makes no backups by itself'),
  key,
  call: () => ({ name: 'stop-backups', args: {} }),
});

/** The agents that look through photos, in a session of the ssh user. @see launchctl(1): disable */
export const photosAnalysis = settingResource<'on' | 'off'>({
  kind: 'photos-analysis',
  wanted,
  observed: (facts) =>
    mapKnown(facts['photos-analysis'], (agents) => (agents.some(({ state }) => state === 'on') ? 'on' : 'off')),
  words: (value) => (value === 'on' ? 'may look through photos' : 'looks through no photos'),
  key,
  call: () => ({ name: 'stop-photos-analysis', args: {} }),
});
