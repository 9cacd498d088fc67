/** The prefix length of a 32-bit network mask as a number, 0 to 32; `undefined` when its ones are not in one piece. */
export function prefixOfMask(mask: number): number | undefined {
  const bits = mask.toString(2).padStart(32, '0');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}
