import { withMac } from '../../model/fleet.ts';
import { liveAddress } from '../../model/interfaces.ts';
import { ipv4Number, maskLength } from '../../model/ip-text.ts';
import type { InterfaceAddress, LiveNetwork, MacState } from '../../model/mac.ts';
import { apple, unconfirmed } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

const source = apple('ifconfig.c, ifbridge.c and ifclone.c of network_cmds: silent, or the failed request; exit 1');

const forms: readonly WriteForm[] = [
  {
    form: 'bridge0 create',
    match: "'2:bridge0 create'",
    source: unconfirmed('ifconfig bridge0 create makes a bridge without members, and refuses one that is there'),
  },
  {
    form: 'bridge0 addm INTERFACE',
    match: "'3:bridge0 addm '*",
    source: unconfirmed('ifconfig bridge0 addm takes a Thunderbolt interface, which then holds no address'),
  },
  { form: 'bridge0 up', match: "'2:bridge0 up'", source: apple('ifconfig(8) of macOS: up marks an interface up') },
  { form: 'bridge0 deletem INTERFACE', match: "'3:bridge0 deletem '*", source },
  { form: 'bridge0 destroy', match: "'2:bridge0 destroy'", source },
  { form: 'INTERFACE inet ADDRESS netmask MASK', match: "5:en*' inet '*' netmask '*", source },
  { form: 'INTERFACE inet ADDRESS -alias', match: "4:en*' inet '*' -alias'", source },
];

/** The network after the change, or what ifconfig says. */
type Change = LiveNetwork | { readonly wrong: string };

function withNewBridge({ live }: MacState, isRoot: boolean): Change {
  if (!isRoot) return { wrong: `SIOCIFCREATE2: ${forbidden.bridge}` };
  return live.bridge === undefined ? { ...live, bridge: [] } : { wrong: 'SIOCIFCREATE2: File exists' };
}

function withMember({ live, receptacles }: MacState, device: string, isRoot: boolean): Change {
  const members = live.bridge ?? [];
  if (!isRoot) return { wrong: `BRDGADD ${device}: ${forbidden.bridge}` };
  if (!receptacles.some((one) => one.device === device))
    return { wrong: `BRDGADD ${device}: No such file or directory` };
  return members.includes(device)
    ? { wrong: `BRDGADD ${device}: File exists` }
    : { ...live, bridge: [...members, device] };
}

/** The words of errno for requests of who is not root; `Perror` of ifconfig.c has its own. */
const forbidden = { bridge: 'Operation not permitted', address: 'permission denied' } as const;

function withoutMember({ live }: MacState, device: string, isRoot: boolean): Change {
  const members = live.bridge ?? [];
  if (!isRoot) return { wrong: `BRDGDEL ${device}: ${forbidden.bridge}` };
  if (!members.includes(device)) return { wrong: `BRDGDEL ${device}: No such file or directory` };
  return { ...live, bridge: members.filter((one) => one !== device) };
}

function withoutBridge({ live }: MacState, isRoot: boolean): Change {
  const { bridge: _, ...rest } = live;
  return isRoot ? rest : { wrong: `SIOCIFDESTROY: ${forbidden.bridge}` };
}

/** A netmask in dots, or as ifconfig itself prints it. */
function prefixOf(mask: string): number | undefined {
  const [, digits] = /^0x([0-9a-fA-F]{8})$/.exec(mask) ?? [];
  const octets = digits?.match(/../g)?.map((octet) => Number.parseInt(octet, 16));
  return maskLength(octets?.join('.') ?? mask);
}

function withAddress({ live }: MacState, device: string, address: InterfaceAddress, isRoot: boolean): Change {
  if (!isRoot) return { wrong: `ioctl (SIOCAIFADDR): ${forbidden.address}` };
  return { ...live, addresses: { ...live.addresses, [device]: address } };
}

function withoutAddress({ fleet, mac }: View, device: string, address: string, isRoot: boolean): Change {
  const receptacle = mac.receptacles.find((one) => one.device === device);
  const held = receptacle === undefined ? undefined : liveAddress(fleet, mac, receptacle);
  if (!isRoot) return { wrong: `ioctl (SIOCDIFADDR): ${forbidden.address}` };
  if (held?.address !== address) return { wrong: "ioctl (SIOCDIFADDR): Can't assign requested address" };
  return { ...mac.live, addresses: { ...mac.live.addresses, [device]: 'none' } };
}

const interfacesOf = (mac: MacState): readonly string[] => [
  ...mac.receptacles.map(({ device }) => device),
  ...(mac.live.bridge === undefined ? [] : ['bridge0']),
];

function changed(view: View, { args, isRoot }: WriteCall): Change | undefined {
  const { mac } = view;
  const [device = '', verb, word = '', option, mask = ''] = args;
  if (verb === 'create') return withNewBridge(mac, isRoot);
  if (!interfacesOf(mac).includes(device)) return { wrong: `interface ${device} does not exist` };
  if (verb === 'up') return isRoot ? mac.live : { wrong: `SIOCSIFFLAGS: ${forbidden.bridge}` };
  if (verb === 'addm') return withMember(mac, word, isRoot);
  if (verb === 'deletem') return withoutMember(mac, word, isRoot);
  if (verb === 'destroy') return withoutBridge(mac, isRoot);
  const prefixLength = prefixOf(mask);
  if (ipv4Number(word) === undefined) return undefined;
  if (option === '-alias') return withoutAddress(view, device, word, isRoot);
  return prefixLength === undefined ? undefined : withAddress(mac, device, { address: word, prefixLength }, isRoot);
}

function write(view: View, call: WriteCall): WriteResult | undefined {
  const { fleet, mac } = view;
  const change = changed(view, call);
  if (change === undefined) return undefined;
  if ('wrong' in change) return { fleet, stderr: lines(`ifconfig: ${change.wrong}`), exitCode: 1 };
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, live: change })) };
}

/** The forms of `ifconfig` that change the running system, and nothing that lasts. */
export const ifconfigWrites: Writes = { forms, write };
