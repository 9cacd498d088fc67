/** The 32 bits of an IPv4 address; undefined unless it is four numbers from 0 to 255. */
export function ipv4Number(text: string): number | undefined {
  const octets = text.split('.').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : Number.NaN));
  if (octets.length !== 4 || octets.some((octet) => !(octet <= 255))) return undefined;
  return octets.reduce((sum, octet) => sum * 256 + octet, 0);
}

/** An IPv4 address such as `10.77.0.1` from its 32 bits. */
export const ipv4Text = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

/** The 32 bits of a netmask with this prefix length. */
export const maskNumber = (prefixLength: number): number => 2 ** 32 - 2 ** (32 - prefixLength);

/** `255.255.255.252`, networksetup's form of a prefix length. */
export const dottedMask = (prefixLength: number): string => ipv4Text(maskNumber(prefixLength));

/** The prefix length of a netmask such as `255.255.255.252`; undefined if it is not a netmask. */
export function maskLength(text: string): number | undefined {
  const number = ipv4Number(text);
  const length = number === undefined ? Number.NaN : 32 - Math.log2(2 ** 32 - number);
  return Number.isInteger(length) ? length : undefined;
}

/** The network of this address: its first address as a number, and its size in addresses. */
export function networkOf(address: string, prefixLength: number): { readonly first: number; readonly size: number } {
  const size = 2 ** (32 - prefixLength);
  return { first: Math.floor((ipv4Number(address) ?? 0) / size) * size, size };
}

/** The address of `fe80::` and these eight octets, in macOS's short form without leading zeros. */
export function linkLocalText(octets: readonly number[]): string {
  const groups = [0, 2, 4, 6].map((at) => ((octets[at] ?? 0) * 256 + (octets[at + 1] ?? 0)).toString(16));
  const significant = groups.findIndex((group) => group !== '0');
  return `fe80::${groups.slice(significant === -1 ? 3 : significant).join(':')}`;
}
