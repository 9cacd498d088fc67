import { beforeAll, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { type Addressed, type Subject, subjectText } from '../../src/model/subject.ts';
import type { Prose } from '../../src/model/text/prose.ts';

/** What was said in a test file. */
const said = new Set<string>();

/** Keeps a line, or several, for the page of this test file. */
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

/** Values as JSON, with subjects, texts and addresses as screens and plans have them. */
export const jsonText = (value: unknown): string | undefined =>
  JSON.stringify(value, (key, one: unknown) => {
    if (['about', 'isBroughtByApply', 'hands', 'handsAt'].includes(key)) return undefined;
    if (isProse(one)) return plainText(one);
    if (key === 'subject' && typeof one === 'object') return subjectText(one as Subject);
    if (typeof one !== 'object' || one === null || !('property' in one) || typeof one.property !== 'object') return one;
    return Object.fromEntries(
      Object.entries<unknown>({ ...one }).map(([name, own]) =>
        name === 'property' ? ['address', (own as Addressed).address] : [name, own],
      ),
    );
  });

/** The same with what a function gives, which it then gives on. Digests change with whatever is digested: left out. */
export function sayValue<T>(value: T): T {
  say((jsonText(value) ?? 'undefined').replaceAll(/[0-9a-f]{16,}/g, '<digest>'));
  return value;
}

/** A function whose results all stand on the page of this test file. */
export const onPage =
  <Given extends readonly unknown[], Result>(act: (...given: Given) => Result) =>
  (...given: Given): Result =>
    sayValue(act(...given));

/**
 * Compares all that was said in a test file with `golden/NAME.txt` beside it, as its last test: a page on which people
 * read every sentence, and which shows what a change of the code changes in them.
 */
export function onOnePage(name: string): void {
  beforeAll(() => said.clear());
  it('is said in words that all stand on one page', async () => {
    await expect(`${[...said].sort().join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  });
}
