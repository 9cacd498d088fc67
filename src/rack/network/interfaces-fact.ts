import type { Ipv4Address, NetworkInterface } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { ipv6Groups, isInterface, isIpv4, isMac, prefixOfMask, wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { ifconfig, sshConnection } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/**
 * Every interface, from blocks such as
 *
 *     en7: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
 *     	inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255
 *
 * An interface that is down has no status line. IPv6 addresses are given without their zone. The tool prints no end,
 * so that an answer is whole is known from its exit and its frame alone.
 */
export const interfacesFact = defineFact({
  name: 'interfaces',
  from: [ifconfig, sshConnection],
  parse: ([answer, connection]): Known<readonly NetworkInterface[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const own = ownAddress(connection);
    const found: NetworkInterface[] = [];
    for (const block of blocksOf(lines.value)) {
      const one = interfaceOf(block);
      if (one === undefined) return garbled(answer, 'printed a block that is no interface');
      found.push(isCarrier(one, own) ? { ...one, carriesConnection: true } : one);
    }
    if (found.length === 0) return unknown('empty', 'ifconfig listed no interface.');
    const isUnambiguous = new Set(found.map(({ name }) => name)).size === found.length;
    return isUnambiguous ? known(found) : garbled(answer, 'named one interface twice');
  },
});

/** The node's own address of the connection, the third word that sshd gives; undefined wherever it said nothing. */
function ownAddress(connection: Answer | undefined): string | undefined {
  const lines = readLines(connection);
  return lines.kind === 'known' ? (lines.value[0] ?? '').split(' ')[2] : undefined;
}

/** Link-local addresses come with their zone, which is the name of the interface. The loopback is how tunnels arrive. */
function isCarrier({ name, ipv4, ipv6 }: NetworkInterface, own: string | undefined): boolean {
  const [address = '', zone = name] = own?.split('%') ?? [];
  const isThere = ipv4.some((one) => one.address === address) || ipv6.includes(address);
  return isThere && zone === name && !/^lo\d/.test(name);
}

/** Indented lines belong to the interface above; `...` is how Apple's pages leave lines out. */
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
  return {
    name,
    isUp: flags.split(',').includes('UP'),
    mtuBytes,
    ipv4,
    ipv6,
    members,
    ...(mac === undefined ? {} : { mac }),
    ...(status === undefined ? {} : { status }),
  };
}

/** The values of all lines with this first word, of equal lines one; `undefined` as soon as one cannot be read. */
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
