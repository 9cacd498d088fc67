import { maskOf } from '../../model/ip-address.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveValues, netValues } from '../../node/paths/keeper-files.ts';
import { sh } from './scripts.generated.ts';

export const clearLinkAddress = ({ service, device, addresses }: ScriptArgs['clear-link-address']): string =>
  sh.clearLinkAddress({ ...netValues, service: service ?? '', device }, addresses);

export const setLinkAddress = (args: ScriptArgs['set-link-address']): string =>
  sh.setLinkAddress({
    ...leaveValues(args.keeper),
    service: args.service,
    create: args.create,
    hardware_port: args.hardwarePort,
    device: args.device,
    address: args.address,
    mask: maskOf(args.prefixLength),
  });
