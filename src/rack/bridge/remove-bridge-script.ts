import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveValues } from '../../node/paths/keeper-files.ts';
import { place } from '../../node/paths/node-paths.ts';
import { sh } from './scripts.generated.ts';

export const removeBridge = ({ bridge, members, services, keeper }: ScriptArgs['remove-bridge']): string =>
  sh.removeBridge(
    { ...leaveValues(keeper), bridge, members: members.join(' '), preferences: place.networkPreferences },
    services,
  );
