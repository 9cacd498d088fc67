import type { ScriptArgs } from '../../model/node-script.ts';
import { serviceValues } from '../../node/launchd-service.ts';
import { below, place } from '../../node/paths/node-paths.ts';
import { sh } from './scripts.generated.ts';

const ofDaemon = (label: string) => ({
  ...serviceValues(label),
  plist: below(place.launchDaemons, `${label}.plist`),
  kept: below(place.ours, `foreign/${label}.plist`),
});

export const returnDaemon = ({ label, load }: ScriptArgs['return-daemon']): string =>
  sh.returnDaemon({ ...ofDaemon(label), load });

export const stopDaemon = ({ label, remove }: ScriptArgs['stop-daemon']): string =>
  sh.stopDaemon({ ...ofDaemon(label), remove, was: below(place.ours, `foreign/${label}`) });
