/** Forms of single values, strict enough that a damaged value is rejected instead of shown. */

/** The prefix length of a 32-bit network mask, 0 to 32; `undefined` if its ones are not contiguous. */
export function prefixOfMask(mask: number): number | undefined {
  const bits = mask.toString(2).padStart(32, '0');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

/** A UUID as macOS prints it, upper case. */
export const isUuid = (text: string): boolean => /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/.test(text);

/** An Ethernet address, six lower-case octets. */
export const isMac = (text: string): boolean => /^[0-9a-f]{1,2}(?::[0-9a-f]{1,2}){5}$/.test(text);

/** A BSD interface name, such as `en2` or `bridge0`. */
export const isInterface = (text: string): boolean => /^[a-z][a-z0-9_-]{0,14}$/i.test(text);

/**
 * The BSD device name of a network service or hardware port. Serial adapters have longer names than interfaces, such as
 * `usbserial-AI06J8P5`.
 */
export const isBsdName = (text: string): boolean => /^[a-z][a-z0-9._-]{0,62}$/i.test(text);

/** A name for people: printable and not empty. */
export const isName = (text: string): boolean => /^[^\0-\x1f\x7f-\x9f]{1,256}$/.test(text) && text.trim() === text;

/** An integer that JavaScript represents exactly; `undefined` for anything else. */
export function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

export const isIpv4 = (text: string): boolean =>
  /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) && text.split('.').every((one) => Number(one) <= 255);

/** The eight 16-bit groups of an IPv6 address in any notation without a zone; `undefined` if invalid. */
export function ipv6Groups(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const parts = halves.map(groupsOf);
  const [head, tail] = parts;
  if (head === undefined || parts.includes(undefined)) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  const rest = tail ?? [];
  const gap = 8 - head.length - rest.length;
  return gap < 1 ? undefined : [...head, ...new Array<number>(gap).fill(0), ...rest];
}

function groupsOf(half: string): readonly number[] | undefined {
  if (half === '') return [];
  const words = half.split(':');
  const groups: number[] = [];
  for (const [at, word] of words.entries()) {
    if (at === words.length - 1 && isIpv4(word)) {
      const [a = 0, b = 0, c = 0, d = 0] = word.split('.').map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-f]{1,4}$/i.test(word)) groups.push(Number.parseInt(word, 16));
    else return undefined;
  }
  return groups;
}

/**
 * The IPv4 address in an IPv4-mapped address, short (`::ffff:192.0.2.10`) or in full
 * (`0000:0000:0000:0000:0000:ffff:c000:020a`); `undefined` for other addresses.
 */
export function mappedIpv4(text: string): string | undefined {
  const groups = ipv6Groups(text);
  if (groups === undefined || groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}
