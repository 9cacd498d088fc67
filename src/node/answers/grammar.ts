/** Formats of single values, strict enough to reject a damaged value. */

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

/** The BSD device name of a network service or port. Adapters have longer ones, such as `usbserial-AI06J8P5`. */
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
