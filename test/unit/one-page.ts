import { beforeAll, expect, it } from 'vitest';

/** What was said in a test file. */
const said = new Set<string>();

/** Keeps a line, or several, for the page of this test file. */
export const say = (text: string): void => void said.add(text.replaceAll('\n', '\n    '));

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
