/**
 * Undetected damage, selected by a seed: a known value is unchanged, becomes unknown, or is incomplete as listed in
 * facts-damage.ts. Only JSON keys are reordered: swapped lines of a tool's text form a different valid text, such as
 * two swapped interface addresses, which no parser can detect.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FactName } from '../../src/engine/observe/facts.ts';
import { isWhole, sampleSeed } from '../sample.ts';
import { loadFactCases, type Printed, parseCase } from '../unit/engine/observe/fact-cases.ts';
import { isCutShort, isSame, isSameBut, mayLeaveOut, mayStopEarly, withoutEachKey } from './facts-damage.ts';

type Damage = (text: string, at: number) => string;

const edited = (text: string, edit: (lines: string[]) => readonly string[]): string =>
  `${edit(text.split('\n').slice(0, -1)).join('\n')}\n`;

/** The same JSON value with the keys of every object in the opposite order. */
function turned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(turned);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, turned(inner)] as const)
      .reverse(),
  );
}

const damages: Readonly<Record<string, Damage>> = {
  'a missing key': (text, a) => {
    const all = withoutEachKey(text);
    return all[a % Math.max(1, all.length)] ?? text;
  },
  cut: (text, a) => text.slice(0, a % (text.length + 1)),
  'a line doubled': (text, a) =>
    edited(text, (lines) => lines.flatMap((line, at) => (at === a % lines.length ? [line, line] : [line]))),
  doubled: (text) => text + text,
  CRLF: (text) => text.replaceAll('\n', '\r\n'),
  'CRLF in one line': (text, a) =>
    edited(text, (lines) => lines.map((line, at) => (at === a % lines.length ? `${line}\r` : line))),
  'keys reordered': (text) =>
    text.trimStart().startsWith('{') ? `${JSON.stringify(turned(JSON.parse(text)))}\n` : text,
};

/** Facts in which a repeated line may be intended, with the reason. */
const mayRepeat: Partial<Readonly<Record<FactName, string>>> = {
  baseline: 'a value that meshwright has kept may have equal lines',
  gateways: 'a port is named once for each record of it',
  'search-path': 'PATH may name a folder twice',
  'rdma-holders': 'two objects of one kind look alike here: the probe drops the ids of objects',
};

const cases = loadFactCases().filter(({ expected }) => expected.unknown === undefined);

type Draw = readonly [which: number, kind: string, of: number, at: number];

/** The wrong result of damage to a case; undefined if the result is acceptable. */
function wrongness([which, kind, of, at]: Draw): string | undefined {
  const one = cases[which % cases.length];
  const [probe = '', printed] = [...(one?.printed ?? [])][of % (one?.printed.size ?? 1)] ?? [];
  if (one === undefined || printed === undefined) return undefined;
  const stdout = damages[kind]?.(printed.stdout, at) ?? '';
  const verdict = parseCase(one, new Map<string, Printed>([...one.printed, [probe, { ...printed, stdout }]]));
  if (verdict.kind === 'unknown' || isSame(verdict.value, one.expected.value)) return undefined;
  const saysLess =
    (kind === 'a missing key' && isSameBut(mayLeaveOut[one.fact] ?? [], verdict.value, one.expected.value)) ||
    (kind === 'cut' && mayStopEarly[one.fact] !== undefined && isCutShort(verdict.value, one.expected.value)) ||
    (kind === 'a line doubled' && mayRepeat[one.fact] !== undefined);
  return saysLess ? undefined : `${kind}, ${one.title}: ${JSON.stringify(verdict.value)}`;
}

it('seeded damage never turns a known value into a different known value', () => {
  const draw = fc.tuple(fc.nat(), fc.constantFrom(...Object.keys(damages)), fc.nat(), fc.nat());
  fc.assert(
    fc.property(draw, (drawn) => {
      expect(wrongness(drawn)).toBeUndefined();
    }),
    isWhole ? { numRuns: 17_000 } : { numRuns: 2_000, seed: sampleSeed },
  );
});
