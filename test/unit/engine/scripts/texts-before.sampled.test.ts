import { describe, expect, it } from 'vitest';
import { quote } from '../../../../src/node/quote.ts';
import { sampleOf } from '../../../sample.ts';
import { type Shell, scriptShells } from './shells.ts';
import { changedTexts, keepTexts, nodeTexts, runOnMac, textsBefore } from './texts-before.ts';

const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);

// Stored texts are replaced only on request, by a person who reads the changes.
if (process.env['MESHWRIGHT_KEEP_SCRIPTS'] === 'yes') keepTexts();

const [before, now] = [textsBefore(), nodeTexts()];

/** Runs both forms of a text, each on a separate Mac. */
const both = (name: string, ...texts: readonly [string, string]) =>
  Promise.all(texts.map((text) => runOnMac(shell, name, text)));

/**
 * Texts that cannot be compared by running them: a launched job outlives its script, and the Mac's recording tools
 * exceed the file size limits of an observation. A person reviews changes of these texts and stores them again.
 */
const unsteady = new Set(['launch of a job', 'observation']);

/** A text without the text of the job that it launches, which runs separately. */
const withoutJob = (texts: Readonly<Record<string, string>>, name: string) =>
  texts[name]?.replace(quote(texts['job verify-model'] ?? ''), 'the text of the job');

describe('the scripts sent to nodes', () => {
  const { changed, gone, added } = changedTexts(before, now);

  it('have the same names as the stored versions', () => {
    expect([gone, added]).toEqual([[], []]);
  });

  it.each(changed.map((name) => [name] as const))(
    'include %s with the same effect as its stored version',
    async (name) => {
      if (unsteady.has(name)) {
        expect(withoutJob(now, name), 'the text has changed, and running it would not compare it').toBe(
          withoutJob(before, name),
        );
        return;
      }
      const [old, fresh] = await both(name, before[name] ?? '', now[name] ?? '');
      expect(fresh).toEqual(old);
    },
  );
});

describe('the comparison of two script versions', () => {
  const steady = Object.keys(before).filter((name) => !unsteady.has(name));

  // These jobs only read files and stage nothing; rehash-model.test.ts, list-folder.test.ts and exchange.slow.test.ts run them.
  const reading = ['job rehash-model', 'job list-folder', 'job serve-model'];
  const jobs = Object.keys(before).filter((name) => name.startsWith('job ') && !reading.includes(name));
  it.each(jobs)('completes all the work of %s', async (name) => {
    const { exit, tree } = await runOnMac(shell, name, before[name] ?? '');
    expect([exit, tree.filter((one) => one.includes('ops/example/failure'))]).toEqual([0, []]);
    // An archive and adopted files are only compared; a later job completes the tree.
    const marks: Readonly<Record<string, RegExp>> = {
      'job fetch-source': /\/checked\/\S+ /,
      'job fetch-archive': /\/checked\/\S+ /,
      'job adopt-model': /\/checked\/\S+ /,
      'job list-packages': /\/list /,
      'job build-archive': /\/list /,
    };
    const mark = marks[name] ?? /\/(?:verified|prepared\.\S+) /;
    expect(tree.filter((one) => mark.test(one))).toHaveLength(1);
  });

  it.each(sampleOf(steady, { few: 4, oneIn: 2 }))('gives equal results on two Macs for %s', async (name) => {
    const [one, other] = await both(name, before[name] ?? '', before[name] ?? '');
    expect(other).toEqual(one);
  });

  const power = before['script set-power'] ?? '';
  it('accepts a different text with the same effect', async () => {
    const [old, other] = await both('script set-power', power, power.replaceAll('isset', 'isasdesired'));
    expect([other, old?.exit]).toEqual([old, 0]);
  });

  it.each([
    [
      'a created file',
      (text: string) => text.replace('isset "$@" && unchanged', 'true >"$b/more"\nisset "$@" && unchanged'),
    ],
    ['a file mode', (text: string) => text.replace('umask 022', 'umask 077')],
    ['standard output', (text: string) => text.replace("printf '@changed\\n'", "printf '@Changed\\n'")],
    [
      'standard error',
      (text: string) => text.replace('isset "$@" && unchanged', 'echo no >&2\nisset "$@" && unchanged'),
    ],
    ['the exit code', (text: string) => text.replace('isset "$@" && unchanged', 'exit 3')],
  ])('detects a change of %s', async (_what, change) => {
    const text = change(power);
    expect(text).not.toBe(power);
    const [old, other] = await both('script set-power', power, text);
    expect(other).not.toEqual(old);
  });
});
