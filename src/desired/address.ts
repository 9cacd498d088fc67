import { ipv4Number } from './links/ipv4.ts';

/**
 * One form for one address, so that two spellings of it are equal: names in lower case without a final dot, IPv6 as
 * eight groups. Undefined for a text that looks like an address and is none.
 */
export function canonicalAddress(host: string): string | undefined {
  if (host.includes(':')) return canonicalIpv6(host);
  const name = host.toLowerCase().replace(/\.$/, '');
  return looksLikeIpv4(name) && ipv4Number(name) === undefined ? undefined : name;
}

/** A name whose last part is a number, decimal or hexadecimal: programs take it for an IPv4 address. */
function looksLikeIpv4(name: string): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(last);
}

function canonicalIpv6(host: string): string | undefined {
  const [address = '', zone, ...rest] = host.toLowerCase().split('%');
  if (rest.length > 0 || zone === '') return undefined;
  const [head = '', tail, ...more] = address.split('::');
  if (more.length > 0) return undefined;
  const before = groupsOf(head, tail === undefined);
  const after = tail === undefined ? [] : groupsOf(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array.from({ length: missing }, () => 0), ...after];
  const text = groups.map((group) => group.toString(16)).join(':');
  return zone === undefined ? text : `${text}%${zone}`;
}

/** Groups of one half; the last one may be an IPv4 address when the half ends the address. */
function groupsOf(half: string, endsAddress: boolean): readonly number[] | undefined {
  if (half === '') return [];
  const groups: number[] = [];
  const words = half.split(':');
  for (const [index, word] of words.entries()) {
    const embedded = endsAddress && index === words.length - 1 ? ipv4Number(word) : undefined;
    if (embedded !== undefined) groups.push(Math.floor(embedded / 65_536), embedded % 65_536);
    else if (/^[0-9a-f]{1,4}$/.test(word)) groups.push(Number.parseInt(word, 16));
    else return undefined;
  }
  return groups;
}
