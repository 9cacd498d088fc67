import { maskOf } from '../../model/ip-address.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { gatewayEndSeconds, serviceValues } from '../../node/launchd-service.ts';
import { netValues } from '../../node/paths/keeper-files.ts';
import { below, place } from '../../node/paths/node-paths.ts';
import { sh } from './scripts.generated.ts';

/** Checks a label whose service is unloaded and whose file is deleted. @throws Error if it is not one of ours, a bug */
function ownLabel(label: string): string {
  if (!/^dev\.meshwright\.[A-Za-z0-9._-]{1,200}$/.test(label)) throw new Error('no service of ours');
  return label;
}

export const clearNode = ({ labels, models }: ScriptArgs['clear-node']): string =>
  sh.clearNode(
    {
      ...serviceValues('dev.meshwright.none', gatewayEndSeconds),
      launch_daemons: place.launchDaemons,
      opt: place.opt,
      opt_parent: place.optParent,
      opt_before: below(place.baseline, 'opt-folder'),
      with_models: models,
    },
    labels.map(ownLabel),
  );

export function restoreNetwork({ bridge, made, switched, manual, order }: ScriptArgs['restore-network']): string {
  const options = bridge?.auto === undefined ? {} : { Options: { __AUTO__: bridge.auto } };
  return sh.restoreNetwork(
    {
      ...netValues,
      preferences: place.networkPreferences,
      bridge: bridge?.name ?? '',
      bridge_json: JSON.stringify({ Interfaces: bridge?.interfaces, ...options }),
      members: bridge?.interfaces.join(' ') ?? '',
    },
    [
      ...made.flatMap((service) => ['remove', service]),
      ...manual.flatMap((one) => ['address', one.service, one.address, maskOf(one.prefixLength), one.router ?? '']),
      ...switched.flatMap(({ service, on }) => ['switch', service, on ? 'on' : 'off']),
      ...(order.length === 0 ? [] : ['order', ...order]),
    ],
  );
}
