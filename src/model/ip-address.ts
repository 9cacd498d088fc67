/** An IPv4 address as a number, 0 to 2^32-1; undefined unless the text is four plain decimal numbers. */
export function ipv4Number(text: string): number | undefined {
  if (!/^(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})$/.test(text)) return undefined;
  const octets = text.split('.').map(Number);
  return octets.some((octet) => octet > 255) ? undefined : octets.reduce((sum, octet) => sum * 256 + octet, 0);
}

export const ipv4Text = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** A prefix length in dotted form: 30 is `255.255.255.252`. */
export const maskOf = (prefixLength: number): string => ipv4Text(2 ** 32 - 2 ** (32 - prefixLength));

/** The eight 16-bit groups of an IPv6 address in any notation without a zone; `undefined` if invalid. */
export function ipv6Groups(text: string): readonly number[] | undefined {
  const [head = '', tail, ...more] = text.toLowerCase().split('::');
  if (more.length > 0) return undefined;
  const before = groupsOf(head, tail === undefined);
  const after = tail === undefined ? [] : groupsOf(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...before, ...Array.from({ length: missing }, () => 0), ...after];
}

/**
 * Extracts the IPv4 address from an IPv4-mapped address, written short (`::ffff:192.0.2.10`) or in full
 * (`0000:0000:0000:0000:0000:ffff:c000:020a`); `undefined` for other addresses.
 */
export function mappedIpv4(text: string): string | undefined {
  const groups = ipv6Groups(text);
  if (groups === undefined || groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return ipv4Text((groups[6] ?? 0) * 65_536 + (groups[7] ?? 0));
}

/** The groups in one half. If the half ends the address, the last group can be an IPv4 address. */
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
