/**
 * The meaning of "never wrong" here: detected damage (by the frame, the exit or the watchdog) always makes the fact
 * unknown. Undetected damage in an answer that claims to be complete leaves the fact unknown or exactly right. The few
 * facts that may then be shorter are listed in facts-damage.ts with the reason. Inserted rubbish leaves the same value
 * or unknown. Nothing throws.
 */
import { describe, expect, it } from 'vitest';
import type { Known } from '../../src/model/known.ts';
import type { Answer } from '../../src/model/probe.ts';
import { type FactCase, loadFactCases, type Printed, parseCase } from '../unit/engine/observe/fact-cases.ts';
import {
  cutAtCharacters,
  cutAtLines,
  isCutShort,
  isSame,
  isSameBut,
  mayLeaveOut,
  mayStopEarly,
  rubbishCharacters,
  rubbishLines,
  withCharacter,
  withEachValueReplaced,
  withLine,
  withoutEachKey,
} from './facts-damage.ts';

const cases = loadFactCases();
const knownCases = cases.filter(({ expected }) => expected.unknown === undefined);

/** The verdicts on a case for each change of the output of each probe. */
function verdicts(
  one: FactCase,
  change: (text: string) => readonly string[],
  more: Partial<Answer> = {},
): readonly { readonly text: string; readonly verdict: Known<unknown> }[] {
  return [...one.printed].flatMap(([probe, printed]) =>
    change(printed.stdout).map((text) => {
      const changed = new Map<string, Printed>([...one.printed, [probe, { ...printed, stdout: text }]]);
      return { text, verdict: parseCase(one, changed, more) };
    }),
  );
}

const isUnknown = (verdict: Known<unknown>): boolean => verdict.kind === 'unknown';
const isRight = (verdict: Known<unknown>, one: FactCase): boolean =>
  verdict.kind === 'known' && isSame(verdict.value, one.expected.value);

/** True if a verdict is unknown or exactly right, or a shorter list for the listed facts. */
function isTrueWhenCut(verdict: Known<unknown>, one: FactCase): boolean {
  if (isUnknown(verdict) || isRight(verdict, one)) return true;
  if (mayStopEarly[one.fact] === undefined || isCrossChecked(one)) return false;
  return verdict.kind === 'known' && isCutShort(verdict.value, one.expected.value);
}

/** The lists of RDMA devices and ports have no end marker, but they come from two tools that must agree. */
const isCrossChecked = ({ fact, printed }: FactCase): boolean => fact.startsWith('rdma-') && printed.size === 2;

/** A Mac's ids have two sources: if one gives no answer, the other counts. */
const hasOneSource = ({ fact, printed }: FactCase): boolean => fact !== 'identity' || printed.size === 1;

const isTrueWithoutKey = (verdict: Known<unknown>, one: FactCase): boolean =>
  verdict.kind === 'unknown' || isSameBut(mayLeaveOut[one.fact] ?? [], verdict.value, one.expected.value);

describe('an answer with detected damage', () => {
  const noticed: readonly (readonly [string, Partial<Answer>])[] = [
    ['exceeded the limit', { isTruncated: true }],
    ['was truncated when the connection dropped', { missing: 'truncated' }],
    ['has contradictory frames', { missing: 'garbled' }],
    ['came after its deadline', { isLate: true, exit: { kind: 'signalled', signal: 'TERM' } }],
    ['ended by a signal', { exit: { kind: 'signalled', signal: 'SEGV' } }],
    ['has an unknown exit', { exit: { kind: 'unknown', reason: 'dropped' } }],
    ['is not UTF-8', { isUtf8: false }],
  ];

  it.each(noticed)('is unknown wherever it is cut, if it %s', (_, more) => {
    const wrong = knownCases.filter(hasOneSource).flatMap((one) =>
      [...one.printed.values()].slice(0, 1).flatMap((printed) => {
        const [probe = ''] = one.printed.keys();
        return [printed.stdout, ...cutAtLines(printed.stdout)]
          .map((stdout) => parseCase(one, new Map([...one.printed, [probe, { ...printed, stdout }]]), more))
          .filter((verdict) => !isUnknown(verdict))
          .map(() => one.title);
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a damaged answer that claims to be complete', () => {
  it('never yields a wrong fact when truncated after any line; only listed facts may be incomplete', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, cutAtLines).flatMap(({ text, verdict }) =>
        isTrueWhenCut(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never yields a wrong fact, wherever it is truncated; only listed facts may be incomplete', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, (text) => cutAtCharacters(text)).flatMap(({ text, verdict }) =>
        isTrueWhenCut(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never yields a wrong fact if one of its JSON keys is missing, except in listed fields', () => {
    const wrong = knownCases.flatMap((one) =>
      verdicts(one, withoutEachKey).flatMap(({ text, verdict }) =>
        isTrueWithoutKey(verdict, one) ? [] : [{ title: one.title, text, verdict }],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never yields a wrong fact, wherever a garbage line appears', () => {
    const wrong = knownCases.flatMap((one) =>
      rubbishLines.flatMap((line) =>
        verdicts(one, (text) => withLine(text, line)).flatMap(({ text, verdict }) =>
          isUnknown(verdict) || isRight(verdict, one) ? [] : [{ title: one.title, text, verdict }],
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never yields a wrong fact, wherever an unprintable character appears', () => {
    const wrong = knownCases.flatMap((one) =>
      rubbishCharacters.flatMap((character) =>
        verdicts(one, (text) => withCharacter(text, character)).flatMap(({ text, verdict }) =>
          isUnknown(verdict) || isRight(verdict, one) ? [] : [{ title: one.title, text, verdict }],
        ),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('never makes a parser throw, whichever JSON value is replaced', () => {
    for (const one of cases) {
      for (const value of [null, -1, 1e300, '', [], {}, true, [[[]]], { __proto__: null }]) {
        for (const { verdict } of verdicts(one, (text) => withEachValueReplaced(text, value))) {
          expect(['known', 'unknown']).toContain(verdict.kind);
        }
      }
    }
  });

  it('never makes a parser throw if the value was already unknown', () => {
    for (const one of cases) {
      const changes = (text: string) => [...cutAtLines(text), ...rubbishLines.flatMap((line) => withLine(text, line))];
      for (const { verdict } of verdicts(one, (text) => changes(text))) {
        expect(['known', 'unknown']).toContain(verdict.kind);
      }
    }
  });
});

describe('the facts that may be incomplete', () => {
  const cutVerdicts = (one: FactCase) => verdicts(one, cutAtLines).map(({ verdict }) => verdict);

  it('are listed only if truncation makes one of their test cases incomplete', () => {
    for (const fact of Object.keys(mayStopEarly)) {
      const short = knownCases
        .filter((one) => one.fact === fact && !isCrossChecked(one))
        .flatMap((one) => cutVerdicts(one).filter((verdict) => !isUnknown(verdict) && !isRight(verdict, one)));
      expect([fact, short.length > 0]).toEqual([fact, true]);
    }
  });

  it('omit only listed fields, and omit each listed field at least once', () => {
    for (const [fact, fields] of Object.entries(mayLeaveOut)) {
      for (const field of fields) {
        const others = fields.filter((one) => one !== field);
        const needed = knownCases
          .filter((one) => one.fact === fact)
          .flatMap((one) => verdicts(one, withoutEachKey).map(({ verdict }) => ({ verdict, one })))
          .filter(
            ({ verdict, one }) => verdict.kind === 'known' && !isSameBut(others, verdict.value, one.expected.value),
          );
        expect([fact, field.field, needed.length > 0]).toEqual([fact, field.field, true]);
      }
    }
  });

  it('include the RDMA lists that come from two tools and are cross-checked', () => {
    const checked = knownCases.filter(isCrossChecked).map(({ fact }) => fact);
    expect(new Set(checked)).toEqual(new Set(['rdma-devices', 'rdma-ports']));
    expect(checked.length).toBeGreaterThan(3);
  });
});

describe('the comparison of damaged values', () => {
  it('accepts missing parts only in the last entry of a truncated list', () => {
    const whole = [{ a: 1, b: [1, 2] }, { a: 3 }];
    expect(isCutShort([], whole)).toBe(true);
    expect(isCutShort([{ a: 1, b: [1] }], whole)).toBe(true);
    expect(isCutShort([{ a: 1, b: [1] }, { a: 3 }], whole)).toBe(false);
    expect(isCutShort([{ a: 2 }], whole)).toBe(false);
    expect(isCutShort([...whole, { a: 5 }], whole)).toBe(false);
    expect(isCutShort('on', 'off')).toBe(false);
  });

  it('accepts a different field only if it is listed', () => {
    const listed = [{ field: 'name', is: 'unknown', why: '' }];
    expect(isSameBut(listed, [{ name: 'unknown', a: 1 }], [{ name: 'Mac', a: 1 }])).toBe(true);
    expect(isSameBut(listed, [{ name: 'Cam', a: 1 }], [{ name: 'Mac', a: 1 }])).toBe(false);
    expect(isSameBut(listed, [{ a: 1 }], [{ name: 'Mac', a: 1 }])).toBe(false);
    expect(isSameBut(listed, [], [{ name: 'Mac', a: 1 }])).toBe(false);
  });
});
