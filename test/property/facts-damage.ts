/** Kinds of damage to an output, and the values that a fact may still have. */

import type { FactName } from '../../src/engine/observe/facts.ts';
import { type PlistValue, plistText, readPlist } from '../../src/sim/model/plist.ts';
import { offsets } from '../sample.ts';

/**
 * The facts whose tool prints no end marker, with the reason: a truncated output that claims to be complete may show
 * a shorter list. Every other fact is completely right, or unknown.
 */
export const mayStopEarly: Partial<Readonly<Record<FactName, string>>> = {
  interfaces: 'ifconfig prints one interface after another and then ends, as an interface does after any of its lines',
  routes: 'netstat prints one route after another and then ends',
  'network-services': 'networksetup numbers its services and does not say how many there are',
  'software-updates': 'softwareupdate prints one update after another, then exits without a closing line',
  'rdma-devices': 'ibv_devices prints no end, where ibv_devinfo could not be asked',
  'other-rdma-devices': 'ibv_devices prints no end, and no more than a notice hangs on devices of others',
  'rdma-ports': "the form of Apple's page leaves out the empty line that ends a device, where ibv_devices is not asked",
};

/**
 * Facts that are read from JSON with optional fields: macOS omits keys that do not apply, so a missing key proves
 * nothing. `is` is the fact's value in that case.
 */
export const mayLeaveOut: Partial<Readonly<Record<FactName, readonly LeftOut[]>>> = {
  thunderbolt: [
    { field: 'vendor', is: undefined, why: 'a device may omit its vendor' },
    { field: 'mode', is: undefined, why: 'a device may omit its mode' },
    { field: 'maxBitsPerSecond', is: undefined, why: 'a free receptacle may omit its speed' },
    { field: 'model', is: 'unknown', why: 'only the domain UUID identifies a Mac' },
    { field: 'name', is: 'unknown', why: 'only the domain UUID identifies a Mac, and the switch UID a device' },
    { field: 'advertisesRdma', is: 'unknown', why: 'services that are missing from the list prove nothing' },
    { field: 'state', is: 'unknown', why: 'an unreadable bus does not affect the other buses' },
    { field: 'domainUuid', is: undefined, why: 'the fact makes no claim about an unreadable bus' },
    { field: 'bus', is: 'unknown', why: 'the fact makes no claim about an unreadable bus' },
    { field: 'linkBitsPerSecond', is: undefined, why: 'the fact makes no claim about an unreadable bus' },
    { field: 'state', is: 'silent', why: 'something is plugged in, but macOS does not report what' },
    { field: 'peers', is: [], why: 'the fact makes no claim about a silent receptacle, or about a hub without a list' },
    { field: 'devices', is: [], why: 'the fact makes no claim about a silent receptacle' },
  ],
  'service-addresses': [
    { field: 'method', is: 'other', why: 'a service whose IPv4 is off has no method' },
    { field: 'address', is: undefined, why: 'only a service with a method has an address' },
    { field: 'router', is: undefined, why: 'a service may have an address without a router' },
  ],
  'bridge-preferences': [
    { field: 'auto', is: undefined, why: 'a bridge that a person created does not have this mark' },
    { field: '', is: [], why: 'a Mac whose only bridge was deleted prints {}' },
  ],
};

/** A field that may have a different value if a key is missing; without a name, the fact itself. */
export interface LeftOut {
  readonly field: string;
  readonly is: unknown;
  readonly why: string;
}

/** True if a list ends early but is otherwise right; only its last entry may be incomplete. */
export function isCutShort(part: unknown, whole: unknown): boolean {
  if (!Array.isArray(part) || !Array.isArray(whole) || part.length > whole.length) return false;
  const last = part.length - 1;
  return part.every((one, at) => isSame(one, whole[at]) || (at === last && isCutEntry(one, whole[at])));
}

function isCutEntry(part: unknown, whole: unknown): boolean {
  if (!isObject(part) || !isObject(whole)) return false;
  return Object.keys(part).every(
    (key) => Object.hasOwn(whole, key) && (isSame(part[key], whole[key]) || isCutShort(part[key], whole[key])),
  );
}

/** True if two values are equal except for fields that may be missing. */
export function isSameBut(leftOut: readonly LeftOut[], part: unknown, whole: unknown, field = ''): boolean {
  if (isSame(part, whole) || leftOut.some((one) => one.field === field && isSame(one.is, part))) return true;
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length === whole.length && part.every((one, at) => isSameBut(leftOut, one, whole[at], `${field}[]`));
  }
  if (!isObject(part) || !isObject(whole)) return false;
  const keys = [...new Set([...Object.keys(part), ...Object.keys(whole)])];
  return keys.every((key) => isSameBut(leftOut, part[key], whole[key], key));
}

/**
 * True if two values are equal; the order of keys does not matter. A service in an unknown state says nothing, and nor
 * does a token that was not asked for because of that.
 */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  }
  if (isObject(one) && isObject(other)) {
    const isService = typeof one['label'] === 'string';
    if (isService && [one['state'], other['state']].includes('unknown')) return one['label'] === other['label'];
    const { token, ...rest } = one;
    if (isObject(token) && token['kind'] === 'not-asked') return isSame(rest, { ...other, token: undefined });
  }
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text cut after each line, from an empty text to all but the last line. */
export function cutAtLines(text: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((_, at) =>
    lines
      .slice(0, at)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** The text cut after each character. */
export const cutAtCharacters = (text: string): readonly string[] =>
  placesIn(text.length).map((at) => text.slice(0, at));

/** All positions in a short text; in a long text, about `wanted` positions in most runs, and all of them at night. */
const placesIn = (length: number, wanted = 1_000): readonly number[] => [
  ...offsets(length, { oneIn: Math.max(1, Math.floor(length / wanted)) }),
];

/** Lines from failing tools and hostile nodes. */
export const rubbishLines = [
  '',
  '   ',
  '}',
  '{',
  '...',
  'null',
  'Segmentation fault: 11',
  'dyld[412]: Library not loaded: /usr/lib/librdma.dylib',
  '### Error:-99 File:InternetServices.m Line:395',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;owned\u0007',
  '::error file=cluster.yaml::forged',
  '<?xml version="1.0"?>',
  '\u0000\u0000\u0000',
  '"; rm -rf "$HOME"; "',
  '$(reboot)',
  '🙃 héllo',
] as const;

/** Characters that no macOS tool prints. */
export const rubbishCharacters = ['\0', '\u0007', '\b', '\r', '\u001b', '\u007f', '\u0085'] as const;

/** Variants of the text, each with a line inserted before one line or after the last. */
export function withLine(text: string, line: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1);
  return placesIn(lines.length + 1, 100).map((at) => [...lines.slice(0, at), line, ...lines.slice(at), ''].join('\n'));
}

/** Variants of the text, each with a character inserted at one position. */
export const withCharacter = (text: string, character: string): readonly string[] =>
  placesIn(text.length + 1).map((at) => text.slice(0, at) + character + text.slice(at));

/**
 * Variants of the text, each without one of its keys, at any depth; none unless the text is JSON or a property list.
 */
export function withoutEachKey(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed === undefined ? [] : pathsOf(parsed).flatMap((path) => written(text, without(parsed, path)));
}

/** Variants of the text, each with one value replaced by a different kind of value. */
export function withEachValueReplaced(text: string, value: unknown): readonly string[] {
  const parsed = parse(text);
  return parsed === undefined ? [] : pathsOf(parsed).flatMap((path) => written(text, replaced(parsed, path, value)));
}

/** A changed value in the form of the text; empty if a property list cannot contain it. */
function written(text: string, value: unknown): readonly string[] {
  if (!text.startsWith('<')) return [`${JSON.stringify(value)}\n`];
  try {
    // Like JSON, a property list omits undefined keys.
    return [plistText(JSON.parse(JSON.stringify(value)) as PlistValue)];
  } catch {
    return [];
  }
}

function parse(text: string): unknown {
  if (text.startsWith('<')) {
    const read = readPlist(text);
    return read.kind === 'plist' ? read.value : undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Path = readonly string[];

function pathsOf(value: unknown): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own: Path[] = Array.isArray(value) ? [] : [[key]];
    return [...own, ...pathsOf(inner).map((path) => [key, ...path])];
  });
}

function without(value: unknown, [key = '', ...rest]: Path): unknown {
  return edited(value, key, (inner) => (rest.length === 0 ? undefined : without(inner, rest)));
}

function replaced(value: unknown, [key = '', ...rest]: Path, by: unknown): unknown {
  return edited(value, key, (inner) => (rest.length === 0 ? by : replaced(inner, rest, by)));
}

function edited(value: unknown, key: string, edit: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((inner, at) => (String(at) === key ? edit(inner) : inner));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([own, inner]) => [own, own === key ? edit(inner) : inner]));
}
