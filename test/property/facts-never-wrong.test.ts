/**
 * What "never wrong" means here. An output whose damage was noticed (by its frame, its exit or the watchdog) makes the
 * fact unknown, always. Damage that nobody noticed, in an answer that claims to be whole, leaves the fact unknown or
 * saying nothing untrue: a list may stop early where the tool prints no end, and a field may be left out, but no value
 * may differ. Rubbish that is put in leaves the very same value, or unknown. Nothing throws.
 */
import { describe, expect, it } from 'vitest';
import type { Known } from '../../src/model/known.ts';
import type { Answer } from '../../src/model/probe.ts';
import { type FactCase, judge, loadFactCases, type Printed } from '../unit/facts/fact-cases.ts';
import {
  cutAtCharacters,
  cutAtLines,
  isPartOf,
  rubbishCharacters,
  rubbishLines,
  withCharacter,
  withEachValueReplaced,
  withLine,
  withoutEachKey,
} from './facts-damage.ts';

const cases = loadFactCases();
const knownCases = cases.filter(({ expected }) => expected.unknown === undefined);

/** The verdicts on one case when the output of one of its probes is changed, for each probe and each change. */
function verdicts(
  one: FactCase,
  change: (text: string) => readonly string[],
  more: Partial<Answer> = {},
): readonly { readonly text: string; readonly verdict: Known<unknown> }[] {
  return [...one.printed].flatMap(([probe, printed]) =>
    change(printed.stdout).map((text) => {
      const changed = new Map<string, Printed>([...one.printed, [probe, { ...printed, stdout: text }]]);
      return { text, verdict: judge(one, changed, more) };
    }),
  );
}

const isUnknown = (verdict: Known<unknown>): boolean => verdict.kind === 'unknown';
const isRight = (verdict: Known<unknown>, one: FactCase): boolean =>
  verdict.kind === 'known' && JSON.stringify(sorted(verdict.value)) === JSON.stringify(sorted(one.expected.value));
const isTrueSoFar = (verdict: Known<unknown>, one: FactCase): boolean =>
  verdict.kind === 'known' && isPartOf(verdict.value, one.expected.value);

/** Key order has no meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

describe('a damaged answer whose damage was noticed', () => {
  const noticed: readonly (readonly [string, Partial<Answer>])[] = [
    ['was longer than allowed', { isTruncated: true }],
    ['was cut with the connection', { missing: 'truncated' }],
    ['has frames that contradict themselves', { missing: 'garbled' }],
    ['came after its deadline', { isLate: true, exit: { kind: 'signalled', signal: 'TERM' } }],
    ['ended by a signal', { exit: { kind: 'signalled', signal: 'SEGV' } }],
    ['ended nobody knows how', { exit: { kind: 'unknown', reason: 'dropped' } }],
    ['is not UTF-8', { isUtf8: false }],
  ];

  it.each(noticed)('that %s is unknown, wherever it was cut', (_, more) => {
    const wrong = knownCases.flatMap((one) =>
      [...one.printed.values()].slice(0, 1).flatMap((printed) => {
        const [probe = ''] = one.printed.keys();
        return [printed.stdout, ...cutAtLines(printed.stdout)]
          .map((stdout) => judge(one, new Map([...one.printed, [probe, { ...printed, stdout }]]), more))
          .filter((verdict) => !isUnknown(verdict))
          .map(() => one.title);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a damaged answer that claims to be whole', () => {
  it('cut after any line is unknown or true as far as it goes', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, cutAtLines).flatMap(({ text, verdict }) =>
        isUnknown(verdict) || isTrueSoFar(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('cut after any character is unknown or true as far as it goes', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, (text) => cutAtCharacters(text)).flatMap(({ text, verdict }) =>
        isUnknown(verdict) || isTrueSoFar(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('without one of its JSON keys is unknown or says nothing untrue', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, withoutEachKey).flatMap(({ text, verdict }) =>
        isUnknown(verdict) || isTrueSoFar(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('with a line of rubbish in any place is unknown or right', () => {
    const wrong = knownCases.flatMap((one) =>
      rubbishLines.flatMap((line) =>
        verdicts(one, (text) => withLine(text, line)).flatMap(({ text, verdict }) =>
          isUnknown(verdict) || isRight(verdict, one) ? [] : [{ title: one.title, text, verdict }],
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('with a character that no tool prints in any place is unknown or right', () => {
    const wrong = knownCases.flatMap((one) =>
      rubbishCharacters.flatMap((character) =>
        verdicts(one, (text) => withCharacter(text, character)).flatMap(({ text, verdict }) =>
          isUnknown(verdict) || isRight(verdict, one) ? [] : [{ title: one.title, text, verdict }],
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never makes a parser throw, whatever stands in place of a JSON value', () => {
    for (const one of cases) {
      for (const value of [null, -1, 1e300, '', [], {}, true, [[[]]], { __proto__: null }]) {
        for (const { verdict } of verdicts(one, (text) => withEachValueReplaced(text, value))) {
          expect(['known', 'unknown']).toContain(verdict.kind);
        }
      }
    }
  });

  it('never makes a parser throw, cut or spoilt, when the whole was unknown to begin with', () => {
    for (const one of cases) {
      const changes = (text: string) => [...cutAtLines(text), ...rubbishLines.flatMap((line) => withLine(text, line))];
      for (const { verdict } of verdicts(one, (text) => changes(text))) {
        expect(['known', 'unknown']).toContain(verdict.kind);
      }
    }
  });
});

describe('isPartOf', () => {
  it('refuses a value that differs, a field that is not there and a list that goes on', () => {
    expect(isPartOf([{ a: 1 }], [{ a: 1, b: 2 }, { a: 3 }])).toBe(true);
    expect(isPartOf([{ a: 2 }], [{ a: 1 }])).toBe(false);
    expect(isPartOf([{ a: 1, b: 2 }], [{ a: 1 }])).toBe(false);
    expect(isPartOf([1, 2], [1])).toBe(false);
    expect(isPartOf('on', 'off')).toBe(false);
  });
});
