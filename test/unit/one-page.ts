import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { type Addressed, type Subject, subjectText } from '../../src/model/subject.ts';
import type { Prose } from '../../src/model/text/prose.ts';

/** The lines recorded in this test file. */
const said = new Set<string>();

/** Records one or more lines for the golden page of this test file. */
export const say = (text: string): void => void said.add(text.replaceAll('\n', '\n    '));

const partKinds = ['command', 'node', 'first', 'applied', 'lines'];

const isProse = (value: unknown): value is Prose =>
  Array.isArray(value) &&
  value.some(
    (one) =>
      typeof one === 'object' &&
      one !== null &&
      !('end' in one) &&
      partKinds.includes((one as { kind?: string }).kind ?? ''),
  ) &&
  value.every((one) => typeof one === 'string' || typeof one === 'object');

/** Values as JSON, with subjects, texts and addresses as on screens and in plans. */
export const jsonText = (value: unknown): string | undefined =>
  JSON.stringify(value, (key, one: unknown) => {
    if (['about', 'isBroughtByApply', 'traits', 'handsAt'].includes(key)) return undefined;
    if (key === 'exit' && typeof one === 'number') return undefined;
    if (isProse(one)) return plainText(one);
    if (key === 'subject' && typeof one === 'object') return subjectText(one as Subject);
    if (typeof one !== 'object' || one === null || !('property' in one) || typeof one.property !== 'object') return one;
    return Object.fromEntries(
      Object.entries<unknown>({ ...one }).map(([name, own]) =>
        name === 'property' ? ['address', (own as Addressed).address] : [name, own],
      ),
    );
  });

/** Records a value and returns it. Digests are replaced, because they change with every input. */
export function sayValue<T>(value: T): T {
  say((jsonText(value) ?? 'undefined').replaceAll(/[0-9a-f]{16,}/g, '<digest>'));
  return value;
}

/** Wraps a function so that all its results are recorded on the golden page. */
export const onPage =
  <Given extends readonly unknown[], Result>(act: (...given: Given) => Result) =>
  (...given: Given): Result =>
    sayValue(act(...given));

/**
 * Compares all recorded lines with `golden/NAME.txt` next to the test file, as its last test. Reviewers read every
 * sentence on this page, and its diff shows how a code change affects the sentences.
 */
export function onOnePage(name: string): void {
  beforeAll(() => said.clear());
  it(`matches golden/${name}.txt`, async () => {
    await expect(`${[...said].sort().join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  });
}

/** Like {@link onOnePage}, for a test file that ran only some of its cases: the page at this URL has their lines. */
export function onPartOfPage(page: URL): void {
  beforeAll(() => said.clear());
  it('has only lines of its golden page', () => {
    expect(said.size).toBeGreaterThan(0);
    const lines = readFileSync(page, 'utf8').split('\n');
    expect([...said].flatMap((text) => text.split('\n')).filter((line) => !lines.includes(line))).toEqual([]);
  });
}
