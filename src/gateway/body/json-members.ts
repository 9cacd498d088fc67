import { setImmediate as otherWork } from 'node:timers/promises';

/** The members of a JSON object: each value's bytes, by name. If a name is repeated, the last member wins. */
export type Members = ReadonlyMap<string, Buffer>;

/** The maximum nesting depth. Runtimes that parse JSON recursively fail at a depth of about a thousand. */
const mostDepth = 512;

/** No API has requests with more members than this. */
const mostMembers = 256;

const [quote, backslash, letterU, comma, colon] = [0x22, 0x5c, 0x75, 0x2c, 0x3a];
const [brace, braceEnd, bracket, bracketEnd] = [0x7b, 0x7d, 0x5b, 0x5d];
const [minus, dot, zero, firstPrinted] = [0x2d, 0x2e, 0x30, 0x20];
const words = ['true', 'false', 'null'].map((word) => [...Buffer.from(word)]);

/** Parsing pauses after this many bytes (a few milliseconds) so that the process can do other work. */
const turnBytes = 262_144;

/** A set of bytes, stored as a lookup table because every byte of a body is checked against it. */
function setOf(letters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(letters)) set[byte] = 1;
  return set;
}
const [spaces, digits, hexDigits] = [setOf(' \n\r\t'), setOf('0123456789'), setOf('0123456789abcdefABCDEF')];
const [exponents, signs, escapes] = [setOf('eE'), setOf('+-'), setOf('"\\/bfnrt')];

/** The current position in a body's JSON. The functions below return whether the expected text was found there. */
interface Walk {
  readonly bytes: Buffer;
  at: number;
  /** The closing bracket of each open array or object, from outermost to innermost. */
  readonly ends: number[];
  /** Set only when searching for images: the keys of the current value and of all open arrays and objects. */
  readonly keys?: { current: string; readonly outer: string[] };
}

function isAtEnd(walk: Walk): boolean {
  skip(walk, spaces);
  return walk.at === walk.bytes.length;
}

/** A reader that pauses regularly so that the process can handle other requests. */
type ReadSteps<Result> = Generator<void, Result>;

function take(walk: Walk, byte: number): boolean {
  skip(walk, spaces);
  return next(walk, byte);
}

/** Reads a member: its name, a colon, and the bytes of its value. */
function* takeMember(walk: Walk): ReadSteps<readonly [string, Buffer] | undefined> {
  skip(walk, spaces);
  const from = walk.at;
  if (!takeText(walk)) return undefined;
  const name: string = JSON.parse(walk.bytes.toString('utf8', from, walk.at));
  if (!take(walk, colon)) return undefined;
  skip(walk, spaces);
  const start = walk.at;
  return (yield* takeValue(walk)) ? [name, walk.bytes.subarray(start, walk.at)] : undefined;
}

function isIn(walk: Walk, set: Uint8Array): boolean {
  return walk.at < walk.bytes.length && set[walk.bytes[walk.at] as number] === 1;
}

function skip(walk: Walk, set: Uint8Array): boolean {
  const from = walk.at;
  while (isIn(walk, set)) walk.at += 1;
  return walk.at > from;
}

function next(walk: Walk, byte: number): boolean {
  if (walk.bytes[walk.at] !== byte) return false;
  walk.at += 1;
  return true;
}

function takeEscape(walk: Walk): boolean {
  if (!next(walk, letterU)) return isIn(walk, escapes) && next(walk, walk.bytes[walk.at] as number);
  const from = walk.at;
  while (walk.at < from + 4 && isIn(walk, hexDigits)) walk.at += 1;
  return walk.at === from + 4;
}

function takeText(walk: Walk): boolean {
  if (!take(walk, quote)) return false;
  while (walk.at < walk.bytes.length) {
    const byte = walk.bytes[walk.at] as number;
    if (byte < firstPrinted) return false;
    walk.at += 1;
    if (byte === quote) return true;
    if (byte === backslash && !takeEscape(walk)) return false;
  }
  return false;
}

function takeNumber(walk: Walk): boolean {
  next(walk, minus);
  if (!next(walk, zero) && !skip(walk, digits)) return false;
  if (next(walk, dot) && !skip(walk, digits)) return false;
  if (!isIn(walk, exponents)) return true;
  walk.at += 1;
  if (isIn(walk, signs)) walk.at += 1;
  return skip(walk, digits);
}

function takeWord(walk: Walk): boolean {
  const { at, bytes } = walk;
  const word = words.find((one) => one[0] === bytes[at] && one.every((byte, index) => byte === bytes[at + index]));
  walk.at += word?.length ?? 0;
  return word !== undefined || takeNumber(walk);
}

function takeKey(walk: Walk): boolean {
  skip(walk, spaces);
  const from = walk.at;
  if (!takeText(walk)) return false;
  if (walk.keys !== undefined) walk.keys.current = JSON.parse(walk.bytes.toString('utf8', from, walk.at));
  return take(walk, colon);
}

function begin(walk: Walk): boolean {
  // The two extra levels are this value and the object whose members are read.
  if (walk.ends.length + 2 > mostDepth) return false;
  const end = walk.bytes[walk.at] === brace ? braceEnd : bracketEnd;
  walk.at += 1;
  if (take(walk, end)) return goOn(walk);
  walk.ends.push(end);
  walk.keys?.outer.push(walk.keys.current);
  return end === bracketEnd || takeKey(walk);
}

/** Moves from the end of a value to the next value in the enclosing array or object. */
function goOn(walk: Walk): boolean {
  while (walk.ends.length > 0) {
    const end = walk.ends[walk.ends.length - 1] as number;
    if (take(walk, comma)) return end === bracketEnd || takeKey(walk);
    if (!next(walk, end)) return false;
    walk.ends.pop();
    if (walk.keys !== undefined) walk.keys.current = walk.keys.outer.pop() ?? '';
  }
  return true;
}

/** The keys of image URLs in the OpenAI and Anthropic APIs, each with the possible keys of the enclosing object. */
const imageKeys: Readonly<Record<string, readonly string[]>> = {
  image_url: ['content'],
  image: ['content'],
  url: ['image_url', 'image', 'source'],
};

const inlineImage = Buffer.from('"data:');

/** Whether the string at this position is the URL of an image that is not part of the request. */
function isRemoteImage({ bytes, at, keys }: Walk): boolean {
  const around = keys && imageKeys[keys.current];
  if (around?.includes(keys?.outer.at(-1) ?? '') !== true) return false;
  return !bytes.subarray(at, at + inlineImage.length).equals(inlineImage);
}

function* takeValue(walk: Walk): ReadSteps<boolean> {
  let pauseAt = walk.at + turnBytes;
  do {
    if (walk.at > pauseAt) {
      yield;
      pauseAt = walk.at + turnBytes;
    }
    skip(walk, spaces);
    const byte = walk.bytes[walk.at];
    if (byte === quote && isRemoteImage(walk)) return false;
    const isBegin = byte === brace || byte === bracket;
    const isTaken = isBegin ? begin(walk) : (byte === quote ? takeText(walk) : takeWord(walk)) && goOn(walk);
    if (!isTaken) return false;
  } while (walk.ends.length > 0);
  return true;
}

function* takeObject(walk: Walk): ReadSteps<Members | undefined> {
  const members = new Map<string, Buffer>();
  if (!take(walk, brace)) return undefined;
  if (!take(walk, braceEnd)) {
    do {
      const member = yield* takeMember(walk);
      if (member === undefined) return undefined;
      members.set(...member);
      if (members.size > mostMembers) return undefined;
    } while (take(walk, comma));
    if (!take(walk, braceEnd)) return undefined;
  }
  return isAtEnd(walk) ? members : undefined;
}

/**
 * Reads the members of a JSON object (RFC 8259) without parsing their values. For 64 MiB of `{},{},…`, `JSON.parse`
 * would take 40 seconds and 2 GB of memory, and would block all other requests. Returns undefined if the text is not a
 * valid JSON object, has more than 256 members, or is nested more than 512 levels deep.
 */
export const jsonMembers = (bytes: Buffer): Promise<Members | undefined> =>
  inTurns(takeObject({ bytes, at: 0, ends: [] }));

/** Whether a member's value (valid JSON) contains the URL of an image that is not part of the request. */
export async function hasRemoteImage(value: Buffer): Promise<boolean> {
  if (!['url', 'image', '\\u'].some((part) => value.includes(part))) return false;
  return !(await inTurns(takeValue({ bytes: value, at: 0, ends: [], keys: { current: '', outer: [] } })));
}

async function inTurns<Result>(reading: ReadSteps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await otherWork();
  }
}
