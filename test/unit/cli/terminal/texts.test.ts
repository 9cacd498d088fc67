import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentence } from '../../../../src/cli/run.ts';
import { asciiJson, asciiText, progressLine, showDiagnostics } from '../../../../src/cli/terminal/console.ts';
import { parseDuration, shownWord } from '../../../../src/cli/verb.ts';
import { wrap } from '../../../../src/diagnostics/cells.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { meshwright } from '../../../../src/model/text/command.ts';
import { prose } from '../../../../src/model/text/prose.ts';
import { planText } from '../../../../src/report/plan/plan-text.ts';
import { plainPage } from '../../../rack/page.ts';
import { blocker, emptyPlan, stepOn } from '../../../rack/plans.ts';
import { fakeRun } from '../console-of.ts';

describe('a duration', () => {
  it.each([
    ['1ms', 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['86400000ms', 86_400_000],
  ])('is parsed: %s is %s ms', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  const invalid = ['', '30', 's', '0s', '-1s', '1.5s', '1 s', '1S', '01s', '1s\n', '1e3s', '٣s'];
  it.each([...invalid, '25h', '86400001ms', '99999999999s'])('is not parsed from %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('a progress line', () => {
  const waiting = Array.from({ length: 4_000 }, (_, index) => `node-${index}`);
  const lineAt = (columns: number): string => progressLine('observing', { seconds: 7, waiting, total: 4_000, columns });

  it.each([80, 40, 20, 10, 4])('is shorter than a terminal of %s columns, so that it never wraps', (columns) => {
    expect(lineAt(columns).length).toBeLessThan(columns);
  });

  it('shows as many complete node names as fit', () => {
    expect([100, 80, 40].map(lineAt)).toEqual([
      'observing: 0 of 4000 done after 7 s, waiting for node-0, node-1, node-2, node-3 and 3996 more',
      'observing: 0 of 4000 done after 7 s, waiting for node-0, node-1 and 3998 more',
      'observing, 7 s: node-0 and 3999 more',
    ]);
  });
});

describe('a wrapped text', () => {
  it('keeps every word, and exceeds its width only for a long word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        (words, columns) => {
          const lines = wrap(words.join(' '), columns);
          expect(lines.flatMap((line) => line.split(' '))).toEqual(words);
          for (const line of lines) expect(line.length <= columns || !line.includes(' ')).toBe(true);
        },
      ),
    );
  });
});

describe('text without UTF-8', () => {
  it('has ASCII forms for our symbols, and codes for all other characters', () => {
    expect(asciiText('a → b ± 1 · …')).toBe('a -> b +- 1 . ...');
    expect(asciiText('gr\u00fcn \u{1f600}\n')).toBe('gr\\u{fc}n \\u{1f600}\n');
  });

  it('keeps the values in a JSON document unchanged', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        const ascii = asciiJson(text);
        expect(ascii).toMatch(/^[\0-\x7f]*$/);
        expect(JSON.parse(ascii)).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('a sentence', () => {
  it.each([
    ['print the version', 'Print the version.'],
    ['Done.', 'Done.'],
    ['really?', 'Really?'],
    ['', '.'],
  ])('is made from %j: %j', (text, result) => {
    expect(sentence(text)).toBe(result);
  });
});

describe('a shell argument', () => {
  it.each([
    ['studio-1', 'studio-1'],
    ['/tmp/a_b.c', '/tmp/a_b.c'],
    ['a b', "'a b'"],
    ['', "''"],
    ['$HOME', "'$HOME'"],
  ])('is quoted if necessary: %j as %s', (word, shown) => {
    expect(shownWord(word)).toBe(shown);
  });
});

describe('displayed commands', () => {
  const words = ['meshwright reboot studio-1', 'meshwright facts studio-1', 'meshwright validate'];
  const isReal = (text: string) => words.map((one) => new RegExp(`${one}(?! --sim)`).test(text));
  const reboot = prose`Restart it: ${meshwright('reboot', 'studio-1')}`;
  const finding = diagnose('ssh/host-key-changed', {
    detail: prose`Seen by ${meshwright('facts', 'studio-1')}.`,
    hint: prose`Restart it:\n  ${meshwright('reboot', 'studio-1')}\nThen: ${meshwright('validate')}`,
  });

  it.each([
    [true, [false, false, true]],
    [false, [true, true, true]],
  ])('have --sim in diagnostics only on a simulated rack (%s)', (isSimulated, real) => {
    const { run, err } = fakeRun();
    showDiagnostics({ ...run.console, isSimulated }, [finding]);
    expect(isReal(err())).toEqual(real);
  });

  it.each([
    [true, [false, false, true]],
    [false, [true, true, true]],
  ])('have --sim in a plan only on a simulated rack (%s)', (isSimulated, real) => {
    const plan = emptyPlan({
      steps: [stepOn('studio-1', 'power/set')],
      blockers: [blocker('studio-1', { action: reboot })],
      diagnostics: [finding],
    });
    const next = [prose`Then: ${meshwright('facts', 'studio-1')}, ${meshwright('validate')}`];
    const lock = { shown: 'cluster.lock', additions: [] };
    expect(isReal(planText({ plan, lock, next }, plainPage({ isSimulated })))).toEqual(real);
  });
});
