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

/** Walks over JSON from its first byte. Each method says whether what it takes was there. */
class Walk {
  private at = 0;
  /** What ends each list or object that has begun, from the outermost to the innermost. */
  private readonly ends: number[] = [];

  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  isAtEnd(): boolean {
    this.skip(spaces);
    return this.at === this.bytes.length;
  }

  take(byte: number): boolean {
    this.skip(spaces);
    return this.next(byte);
  }

  /** A name with its colon, and the bytes of its value. */
  takeMember(): readonly [string, Buffer] | undefined {
    this.skip(spaces);
    const from = this.at;
    if (!this.takeText()) return undefined;
    const name: string = JSON.parse(this.bytes.toString('utf8', from, this.at));
    if (!this.take(colon)) return undefined;
    this.skip(spaces);
    const start = this.at;
    return this.takeValue() ? [name, this.bytes.subarray(start, this.at)] : undefined;
  }

  private isIn(set: Uint8Array): boolean {
    return this.at < this.bytes.length && set[this.bytes[this.at] as number] === 1;
  }

  private skip(set: Uint8Array): boolean {
    const from = this.at;
    while (this.isIn(set)) this.at += 1;
    return this.at > from;
  }

  private next(byte: number): boolean {
    if (this.bytes[this.at] !== byte) return false;
    this.at += 1;
    return true;
  }

  private takeEscape(): boolean {
    if (!this.next(letterU)) return this.isIn(escapes) && this.next(this.bytes[this.at] as number);
    const from = this.at;
    while (this.at < from + 4 && this.isIn(hexDigits)) this.at += 1;
    return this.at === from + 4;
  }

  private takeText(): boolean {
    if (!this.take(quote)) return false;
    while (this.at < this.bytes.length) {
      const byte = this.bytes[this.at] as number;
      if (byte < firstPrinted) return false;
      this.at += 1;
      if (byte === quote) return true;
      if (byte === backslash && !this.takeEscape()) return false;
    }
    return false;
  }

  private takeNumber(): boolean {
    this.next(minus);
    if (!this.next(zero) && !this.skip(digits)) return false;
    if (this.next(dot) && !this.skip(digits)) return false;
    if (!this.isIn(exponents)) return true;
    this.at += 1;
    if (this.isIn(signs)) this.at += 1;
    return this.skip(digits);
  }

  private takeWord(): boolean {
    const { at, bytes } = this;
    const word = words.find((one) => one[0] === bytes[at] && one.equals(bytes.subarray(at, at + one.length)));
    this.at += word?.length ?? 0;
    return word !== undefined || this.takeNumber();
  }

  private takeKey(): boolean {
    return this.takeText() && this.take(colon);
  }

  private begin(): boolean {
    // This one, and the object whose members are read.
    if (this.ends.length + 2 > mostDepth) return false;
    const end = this.bytes[this.at] === brace ? braceEnd : bracketEnd;
    this.at += 1;
    if (this.take(end)) return this.goOn();
    this.ends.push(end);
    return end === bracketEnd || this.takeKey();
  }

  /** After a value: to the next one of the list or object in which it stands. */
  private goOn(): boolean {
    while (this.ends.length > 0) {
      const end = this.ends[this.ends.length - 1] as number;
      if (this.take(comma)) return end === bracketEnd || this.takeKey();
      if (!this.next(end)) return false;
      this.ends.pop();
    }
    return true;
  }

  private takeValue(): boolean {
    do {
      this.skip(spaces);
      const byte = this.bytes[this.at];
      const isBegin = byte === brace || byte === bracket;
      const isTaken = isBegin ? this.begin() : (byte === quote ? this.takeText() : this.takeWord()) && this.goOn();
      if (!isTaken) return false;
    } while (this.ends.length > 0);
    return true;
  }
}

/**
 * Reads the members of a JSON object (RFC 8259) and builds nothing of their values: 64 MiB of `{},{},…` take `JSON.parse`
 * 40 seconds and 2 GB, and a server answers no other request meanwhile. Undefined where the text is not one object in valid
 * JSON, has more than 256 members, or is nested deeper than 512.
 */
export function jsonMembers(bytes: Buffer): Members | undefined {
  const walk = new Walk(bytes);
  const members = new Map<string, Buffer>();
  if (!walk.take(brace)) return undefined;
  if (!walk.take(braceEnd)) {
    do {
      const member = walk.takeMember();
      if (member === undefined) return undefined;
      members.set(...member);
      if (members.size > mostMembers) return undefined;
    } while (walk.take(comma));
    if (!walk.take(braceEnd)) return undefined;
  }
  return walk.isAtEnd() ? members : undefined;
}
