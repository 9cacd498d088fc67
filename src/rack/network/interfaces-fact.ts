import type { DhcpAnswer, DhcpLease, Ipv4Address, NetworkInterface, Route } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { ipv6Groups } from '../../model/ip-address.ts';
import { andThen, type Known, known, mapKnown, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { durationText } from '../../model/text/units.ts';
import { isInterface, isIpv4, isMac, prefixOfMask, wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact, eachOnce, readEach } from '../fact.ts';
import { sh } from './scripts.generated.ts';

/**
 * The connection as sshd describes it to every command, `client-address port own-address port`, then the account's name.
 *
 * @see sshd(8), ENVIRONMENT: SSH_CONNECTION
 * @see id(1): -u -n, the name of the effective user
 */
export const sshConnection = probe(
  'ssh-connection',
  [tool.sh, '-c', `printf "%s\\n" "\${SSH_CONNECTION-}"; ${pathWord(tool.id)} -un; exit 0`],
  5_000,
  1_024,
);

const ifconfig = probe('ifconfig', [tool.ifconfig, '-a'], 5_000, 262_144);

/** The DHCP packets of the cables' interfaces, from `ipconfig getpacket`. @see ipconfig(8) */
export const dhcpPackets = probe('dhcp-packets', [tool.sh, '-c', sh.dhcpPackets({})], 10_000, 262_144);

/** `netstat -rn -f inet`: the IPv4 routing table, numbers only. @see netstat(1) */
const routeTable = probe('route-table', [tool.netstat, '-rn', '-f', 'inet'], 5_000, 131_072);

/**
 * The DHCP lease of each queried Thunderbolt interface, from lines such as
 *
 *     yiaddr = 192.168.64.13
 *     server_identifier (ip): 192.168.64.1
 *
 * `ipconfig` exits with 1 if there is no packet. The fact is optional: its absence causes no finding.
 *
 * @see ipconfig(8), and dhcplib.c, dhcp_options.c and client.c of Apple's bootp for the lines and the exit
 */
export const dhcpLeasesFact = defineFact({
  name: 'dhcp-leases',
  from: [dhcpPackets],
  parse: ([answer]): Known<readonly DhcpAnswer[]> =>
    andThen(readLines(answer), (lines) => {
      if (lines.at(-1) !== 'end') return unknown('truncated', 'The list of DHCP packets is incomplete.');
      const found: DhcpAnswer[] = [];
      let block: string[] = [];
      for (const line of lines.slice(0, -1)) {
        block.push(line);
        if (!/^en\d{1,4} exit \d{1,3}$/.test(line)) continue;
        const one = answerOf(block);
        if (one === undefined) return garbled(answer, 'printed an unreadable DHCP packet');
        found.push(one);
        block = [];
      }
      const isWhole = block.length === 0 && new Set(found.map(({ device }) => device)).size === found.length;
      return isWhole ? known(found) : garbled(answer, 'printed an interface twice, or without its end');
    }),
  /** One line per lease, then the interfaces without a lease. */
  text: (answers) => {
    const leases = answers.flatMap(({ device, lease }) => {
      const time = lease?.seconds === noEnd ? 'without end' : `for ${durationText((lease?.seconds ?? 0) * 1_000)}`;
      return lease === undefined ? [] : [`${device} ${lease.address} from ${lease.server} ${time}`];
    });
    const others = answers.filter(({ lease }) => lease === undefined).map(({ device }) => device);
    return [...leases, ...(others.length === 0 ? [] : [`no lease: ${others.join(' ')}`])];
  },
});

/** The lease time for an infinite lease. @see RFC 2131, 3.3 */
const noEnd = 0xff_ff_ff_ff;

/** Apple's sources print nothing without a packet. Other programs expect these messages from newer versions. */
const noPacket = /^ipconfig_get_packet\(en\d{1,4}\) failed: (?:not found|interface doesn't exist)$/;

/** The lines of one interface; the last one has its name and the exit code. */
function answerOf(block: readonly string[]): DhcpAnswer | undefined {
  const text = block.slice(0, -1);
  const [device = '', , code] = block.at(-1)?.split(' ') ?? [];
  switch (code) {
    case '0': {
      const lease = leaseOf(text);
      // A DHCPINFORM packet gives no address.
      return lease?.address === '0.0.0.0' ? { device } : lease && { device, lease };
    }
    case '1':
      return text.length === 0 || (text.length === 1 && noPacket.test(text[0] ?? '')) ? { device } : undefined;
    default:
      return undefined;
  }
}

const fields = 'op htype flags hlen hops xid secs ciaddr yiaddr siaddr giaddr chaddr sname file'.split(' ');
const optionForm = /^(?:\w+ \(\w+\): |undefined tag \d{1,3} len \d{1,3}$)/;

/** Accepts only a complete packet: every field in its place, and as many options as its count. */
function leaseOf(text: readonly string[]): DhcpLease | undefined {
  const head = fields.map((name, at) => textAfter([text[at] ?? ''], `${name} = `));
  const [title, count, ...rest] = text.slice(fields.length);
  const options = rest.filter((line) => optionForm.test(line));
  const isWhole =
    !head.includes(undefined) &&
    head[0] === 'BOOTREPLY' &&
    title === 'options:' &&
    count === `Options count is ${options.length}` &&
    rest.at(-1) === 'end (none): ' &&
    textAfter(options, 'dhcp_message_type (uint8): ') === 'ACK 0x5';
  const address = head[fields.indexOf('yiaddr')] ?? '';
  const server = textAfter(options, 'server_identifier (ip): ') ?? '';
  const [, seconds] = /^0x([0-9a-f]{1,8})$/.exec(textAfter(options, 'lease_time (uint32): ') ?? '') ?? [];
  return isWhole && isIpv4(address) && isIpv4(server) && seconds !== undefined
    ? { address, server, seconds: Number.parseInt(seconds, 16) }
    : undefined;
}

/** The text after `name` in the only line that begins with it. */
function textAfter(lines: readonly string[], name: string): string | undefined {
  const [line, ...others] = lines.filter((one) => one.startsWith(name));
  return others.length === 0 ? line?.slice(name.length) : undefined;
}

const head = ['Routing tables', '', 'Internet:'] as const;
const columns = /^Destination +Gateway +Flags +Netif +Expire *$/;

/**
 * The IPv4 routing table, from lines such as
 *
 *     default            198.51.100.1       UGScIg                en7
 *     169.254            link#25            UCS                   en1      !
 *
 * Neighbors that macOS learned (flag `W`, cloned from the route of their network) are left out, because they come and go.
 * The tool prints no end mark, so only its exit and its frame show that the answer is complete.
 *
 * @see netstat(1) for the flags; route.c of Apple's network_cmds for the parts left out of a destination
 */
export const routesFact = defineFact({
  name: 'routes',
  from: [routeTable],
  parse: ([answer]): Known<readonly Route[]> =>
    andThen(readLines(answer), (lines) => {
      const [first, second, third, names = '', ...rows] = lines;
      if (![first, second, third].every((line, at) => line === head[at]) || !columns.test(names)) {
        return garbled(answer, 'did not begin with the header of a routing table');
      }
      // Even a Mac without any network has loopback routes.
      if (rows.length === 0) return unknown('empty', 'netstat listed no route.');
      // Identical lines count as one route.
      const found = readEach([...new Set(rows)], routeOf, garbled(answer, 'printed a line that is not a route'));
      return mapKnown(found, (all) => all.filter(({ flags }) => !flags.includes('W')));
    }),
  /** Leaves out the routes of loopback and multicast. */
  text: (routes) => [
    routes
      .filter(({ device, destination: { address } }) => !/^lo\d/.test(device) && Number(address.split('.')[0]) < 224)
      .map(({ destination: { address, prefixLength }, gateway, device }) => {
        const network = prefixLength === 0 ? 'default' : `${address}/${prefixLength}`;
        return `${network} ${device}${/^\d/.test(gateway) && !gateway.includes(':') ? ` by ${gateway}` : ''}`;
      }),
  ],
});

function routeOf(row: string): Route | undefined {
  const form = /^(\S+) +(\S+) +([A-Za-z0-9]{1,19}) +(\S+)(?: +(?:!|\d{1,10}))? *$/;
  const [, target = '', gateway = '', flags = '', device = ''] = form.exec(row) ?? [];
  const destination = destinationOf(target, flags);
  if (destination === undefined || !isGateway(gateway) || !flags.startsWith('U') || !isInterface(device)) {
    return undefined;
  }
  return { destination, gateway, flags, device };
}

const isGateway = (text: string): boolean =>
  isIpv4(text) || /^link#\d{1,5}$/.test(text) || isMac(text.replaceAll('.', ':')) || isInterface(text);

/** The prefix length of a network printed without one: its historical class, from the first octet. */
const classLength = (first: number): number => (first < 128 ? 8 : first < 192 ? 16 : 24);

/**
 * `default`, `127`, `169.254`, `192.0.2`, `10.77/16`, `10.77.0.4/30` or `192.0.2.10`. The tool leaves out trailing zero
 * octets down to the address's class. It also leaves out the prefix length of the class or of a single host.
 */
function destinationOf(text: string, flags: string): Ipv4Address | undefined {
  if (text === 'default') return { address: '0.0.0.0', prefixLength: 0 };
  const [, short = '', length] = /^(\d{1,3}(?:\.\d{1,3}){0,3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const octets = short.split('.');
  const address = [...octets, '0', '0', '0'].slice(0, 4).join('.');
  if (short === '' || !isIpv4(address)) return undefined;
  const isWhole = octets.length === 4;
  const own = classLength(Number(octets[0]));
  // A network without a length has exactly the octets of its class.
  if (length === undefined && !isWhole && octets.length * 8 !== own) return undefined;
  if (length === undefined && isWhole && !flags.includes('H')) return undefined;
  const prefixLength = length === undefined ? (isWhole ? 32 : own) : wholeNumber(length);
  return prefixLength === undefined || prefixLength > 32 ? undefined : { address, prefixLength };
}

/**
 * Every interface, from blocks such as
 *
 *     en7: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
 *     	inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255
 *
 * An interface that is down has no status line. IPv6 addresses are returned without their zone. The tool prints no end
 * mark, so only its exit and its frame show that the answer is complete.
 */
export const interfacesFact = defineFact({
  name: 'interfaces',
  from: [ifconfig, sshConnection],
  parse: ([answer, connection]): Known<readonly NetworkInterface[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const own = ownAddress(connection);
    const unread = garbled(answer, 'printed a block that describes no interface');
    return andThen(readEach(blocksOf(lines.value), interfaceOf, unread), (found) => {
      if (found.length === 0) return unknown('empty', 'ifconfig listed no interface.');
      const all = found.map((one) => (isCarrier(one, own) ? { ...one, carriesConnection: true as const } : one));
      return eachOnce(all, ({ name }) => name, garbled(answer, 'named one interface twice'));
    });
  },
  /** The interfaces with an address or a bridge, one per line, then the names of the others. */
  text: (interfaces) => {
    const worthALine = interfaces.filter((one) => one.ipv4.length + one.members.length > 0 || ownIpv6(one).length > 0);
    const others = interfaces.filter((one) => !worthALine.includes(one)).map((one) => one.name);
    return [...worthALine.map(interfaceLine), ...(others.length === 0 ? [] : [`without address: ${others.join(' ')}`])];
  },
});

/** The addresses outside fe80::/10, which every interface assigns itself. */
const ownIpv6 = ({ ipv6 }: NetworkInterface): readonly string[] =>
  ipv6.filter((address) => !/^fe[89ab][0-9a-f]:/i.test(address));

function interfaceLine(one: NetworkInterface): string {
  const { name, isUp, status, ipv4, members } = one;
  const addresses = [...ipv4.map(({ address, prefixLength }) => `${address}/${prefixLength}`), ...ownIpv6(one)];
  const bridged = members.length === 0 ? [] : [`bridges ${members.join(' ')}`];
  return [`${name} ${isUp ? (status ?? 'up') : 'down'}`, ...addresses, ...bridged].join(', ');
}

/** The node's address in this connection, the third word from sshd; undefined if there is none. */
function ownAddress(connection: Answer | undefined): string | undefined {
  const lines = readLines(connection);
  return lines.kind === 'known' ? (lines.value[0] ?? '').split(' ')[2] : undefined;
}

/** A link-local address has a zone, its interface's name. A connection over loopback comes from a tunnel. */
function isCarrier({ name, ipv4, ipv6 }: NetworkInterface, own: string | undefined): boolean {
  const [address = '', zone = name] = own?.split('%') ?? [];
  const isThere = ipv4.some((one) => one.address === address) || ipv6.includes(address);
  return isThere && zone === name && !/^lo\d/.test(name);
}

/** Indented lines belong to the interface above. In Apple's pages, `...` stands for omitted lines. */
function blocksOf(lines: readonly string[]): readonly (readonly string[])[] {
  const blocks: string[][] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (line.trim() === '...') continue;
    if (/^[\t ]/.test(line) && last !== undefined) last.push(line.trim());
    else blocks.push([line]);
  }
  return blocks;
}

function interfaceOf(block: readonly string[]): NetworkInterface | undefined {
  const [head = '', ...lines] = block;
  const form = /^(\S+): flags=[0-9a-f]{1,8}<([A-Z0-9_,-]*)> (?:metric \d+ )?mtu (\d+)$/;
  const [, name = '', flags = '', mtu] = form.exec(head) ?? [];
  const mtuBytes = wholeNumber(mtu);
  if (!isInterface(name) || mtuBytes === undefined) return undefined;
  const ipv4 = each(lines, 'inet ', ipv4Of);
  const ipv6 = each(lines, 'inet6 ', ipv6Of);
  const members = each(lines, 'member: ', memberOf);
  const macs = each(lines, 'ether ', (rest) => (isMac(rest) ? rest : undefined));
  const states = each(lines, 'status: ', statusOf);
  if (!ipv4 || !ipv6 || !members || !macs || !states || macs.length > 1 || states.length > 1) return undefined;
  const [mac] = macs;
  const [status] = states;
  return { name, isUp: flags.split(',').includes('UP'), mtuBytes, ipv4, ipv6, members, ...given({ mac, status }) };
}

/** The values of all distinct lines with this first word; `undefined` if one is unreadable. */
function each<T>(lines: readonly string[], word: string, read: (rest: string) => T | undefined): T[] | undefined {
  const values = [...new Set(lines)]
    .filter((line) => line.startsWith(word))
    .map((line) => read(line.slice(word.length).trim()));
  return values.includes(undefined) ? undefined : values.filter((value) => value !== undefined);
}

const statusOf = (rest: string): 'active' | 'inactive' | undefined =>
  rest === 'active' || rest === 'inactive' ? rest : undefined;

/** `en2 flags=3<LEARNING,DISCOVER>` */
function memberOf(rest: string): string | undefined {
  const name = /^(\S+) flags=\S+$/.exec(rest)?.[1] ?? '';
  return isInterface(name) ? name : undefined;
}

/** `192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255`; tunnels have `--> peer` before the mask. */
function ipv4Of(rest: string): Ipv4Address | undefined {
  const [, address = '', mask = ''] = /^(\S+) (?:--> \S+ )?netmask 0x([0-9a-f]{8})(?: .*)?$/.exec(rest) ?? [];
  const prefixLength = prefixOfMask(Number.parseInt(mask, 16));
  return isIpv4(address) && prefixLength !== undefined ? { address, prefixLength } : undefined;
}

/** `fe80::200:5eff:fe00:5307%en0 prefixlen 64 secured scopeid 0x15` */
function ipv6Of(rest: string): string | undefined {
  const form = /^([0-9a-f:.]+)(?:%\S+)? (?:--> \S+ )?prefixlen \d{1,3}(?: .*)?$/;
  const address = form.exec(rest)?.[1] ?? '';
  return ipv6Groups(address) === undefined ? undefined : address;
}
