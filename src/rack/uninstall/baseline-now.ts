/** What of the baseline is now, in the words in which `src/rack/uninstall/baseline-values.ts` records it. */

import type { BaselineKey } from '../../model/facts/node-records.ts';
import type { Facts } from '../../model/facts/observation.ts';
import { type Known, unknown } from '../../model/known.ts';
import { read } from '../fact.ts';
import { mapKnown } from '../seen-fact.ts';
import { screenSharingWords } from '../settings/screen-sharing/text.ts';
import { updates } from '../settings/updates.ts';

/** A value that is no setting of one tool: what compares it are steps of its own, or nobody does. */
const compared = (): Known<string> => unknown('not-asked', 'It is not compared as a text.');

/**
 * Volumes as they are now, of those that were there before; one that is not there any more counts as it was. Without its
 * server Spotlight names no volume and indexes none.
 */
const volumesNow = ({ spotlight }: Facts, before: string): Known<string> =>
  mapKnown(spotlight, (volumes) =>
    before
      .split('\n')
      .map((line) => {
        const path = line.slice(0, line.lastIndexOf(' '));
        const now = volumes.find(({ volume, state }) => volume === path && state !== 'other');
        if (now === undefined && volumes.length > 0) return line;
        return `${path} ${now?.state ?? 'off'}`;
      })
      .join('\n'),
  );

/** Each value as it is now; `before` is what the baseline has. */
export const baselineNow: Readonly<Record<BaselineKey, (facts: Facts, before: string) => Known<string>>> = {
  power: ({ power }) =>
    mapKnown(power, ({ sleepMinutes, restartAfterPowerLoss: restarts }) =>
      [`sleep ${sleepMinutes}`, ...(restarts === 'unsupported' ? [] : [`autorestart ${Number(restarts)}`])].join('\n'),
    ),
  'wired-limit': (facts) => mapKnown(facts['wired-limit'], ({ megabytes }) => String(megabytes)),
  'network-preferences': compared,
  'service-order': compared,
  'service-addresses': compared,
  bridge: compared,
  'disabled-services': compared,
  spotlight: volumesNow,
  'time-machine': (facts) => facts['time-machine'],
  'photos-analysis': (facts) =>
    mapKnown(facts['photos-analysis'], (agents) => agents.map(({ agent, state }) => `${agent} ${state}`).join('\n')),
  'opt-folder': compared,
  updates: (facts) => read(facts, updates.fact),
  names: (facts) =>
    mapKnown(facts.names, ({ computerName, localHostName, hostName }) =>
      [
        ...(computerName === undefined ? [] : [`ComputerName ${computerName}`]),
        ...(localHostName === undefined ? [] : [`LocalHostName ${localHostName}`]),
        ...(hostName === undefined ? [] : [`HostName ${hostName}`]),
      ].join('\n'),
    ),
  'screen-sharing': (facts) => mapKnown(facts['screen-sharing'], screenSharingWords),
  firewall: ({ firewall }) => firewall,
};
