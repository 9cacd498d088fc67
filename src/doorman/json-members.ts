/** The members of a JSON object by name: of each its value as the bytes in which it came. The last one of a name counts. */
export type Members = ReadonlyMap<string, Buffer>;

/** Brackets within brackets. Programs that read JSON by recursion, as runtimes do, end near a thousand. */
const mostDepth = 512;

/** More than any API has. */
const mostMembers = 256;

const [quote, backslash, letterU, comma, colon] = [0x22, 0x5c, 0x75, 0x2c, 0x3a];
const [brace, braceEnd, bracket, bracketEnd] = [0x7b, 0x7d, 0x5b, 0x5d];
const [minus, dot, zero, firstPrinted] = [0x2d, 0x2e, 0x30, 0x20];
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** A set of bytes; a list, since this is asked of every byte of a body. */
function setOf(letters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(letters)) set[byte] = 1;
  return set;
}
const [spaces, digits, hexDigits] = [setOf(' \n\r\t'), setOf('0123456789'), setOf('0123456789abcdefABCDEF')];
const [exponents, signs, escapes] = [setOf('eE'), setOf('+-'), setOf('"\\/bfnrt')];

/**
 * Reads the members of a JSON object (RFC 8259) and builds nothing of their values: 64 MiB of `{},{},…` take `JSON.parse`
 * 40 seconds and 2 GB, and a server answers no other request meanwhile. Undefined where the text is not one object in valid
 * JSON, has more than 256 members, or is nested deeper than 512.
 */
export function jsonMembers(bytes: Buffer): Members | undefined {
  const { length } = bytes;
  let at = 0;

  const isIn = (set: Uint8Array): boolean => at < length && set[bytes[at] as number] === 1;
  function skip(set: Uint8Array): boolean {
    const from = at;
    while (at < length && set[bytes[at] as number] === 1) at += 1;
    return at > from;
  }
  function next(byte: number): boolean {
    if (at >= length || bytes[at] !== byte) return false;
    at += 1;
    return true;
  }
  function take(byte: number): boolean {
    skip(spaces);
    return next(byte);
  }

  function takeEscape(): boolean {
    if (!next(letterU)) return isIn(escapes) && next(bytes[at] as number);
    const from = at;
    while (at < from + 4 && isIn(hexDigits)) at += 1;
    return at === from + 4;
  }
  function takeText(): boolean {
    if (!take(quote)) return false;
    while (at < length) {
      const byte = bytes[at] as number;
      if (byte < firstPrinted) return false;
      at += 1;
      if (byte === quote) return true;
      if (byte === backslash && !takeEscape()) return false;
    }
    return false;
  }
  function takeNumber(): boolean {
    next(minus);
    if (!next(zero) && !skip(digits)) return false;
    if (next(dot) && !skip(digits)) return false;
    if (!isIn(exponents)) return true;
    at += 1;
    if (isIn(signs)) at += 1;
    return skip(digits);
  }
  function takeWord(): boolean {
    const word = words.find((one) => one[0] === bytes[at] && one.equals(bytes.subarray(at, at + one.length)));
    at += word?.length ?? 0;
    return word !== undefined || takeNumber();
  }
  const takeKey = (): boolean => takeText() && take(colon);

  /** What ends each list or object that has begun, from the outermost to the innermost. */
  const ends: number[] = [];
  function begin(): boolean {
    // This one, and the object whose members are read.
    if (ends.length + 2 > mostDepth) return false;
    const end = bytes[at] === brace ? braceEnd : bracketEnd;
    at += 1;
    if (take(end)) return goOn();
    ends.push(end);
    return end === bracketEnd || takeKey();
  }
  /** After a value: to the next one of the list or object in which it stands. */
  function goOn(): boolean {
    while (ends.length > 0) {
      const end = ends[ends.length - 1] as number;
      if (take(comma)) return end === bracketEnd || takeKey();
      if (!next(end)) return false;
      ends.pop();
    }
    return true;
  }
  function takeValue(): boolean {
    do {
      skip(spaces);
      const byte = bytes[at];
      const isBegin = byte === brace || byte === bracket;
      const isDone = isBegin ? begin() : (byte === quote ? takeText() : takeWord()) && goOn();
      if (!isDone) return false;
    } while (ends.length > 0);
    return true;
  }

  const members = new Map<string, Buffer>();
  function takeMember(): boolean {
    skip(spaces);
    const from = at;
    if (!takeText()) return false;
    const name: string = JSON.parse(bytes.toString('utf8', from, at));
    if (!take(colon)) return false;
    skip(spaces);
    const start = at;
    if (!takeValue()) return false;
    members.set(name, bytes.subarray(start, at));
    return members.size <= mostMembers;
  }
  if (!take(brace)) return undefined;
  if (!take(braceEnd)) {
    do if (!takeMember()) return undefined;
    while (take(comma));
    if (!next(braceEnd)) return undefined;
  }
  skip(spaces);
  return at === length ? members : undefined;
}
