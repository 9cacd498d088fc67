import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { factNames } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import { casesFolder, type FactCase, loadFactCases, parseCase } from './fact-cases.ts';

const cases = loadFactCases();

/** Fails with the value that was read; with `-u`, vitest adds the value to the file, for a person to check. */
function expectNewCase({ title }: FactCase, read: Known<unknown>): Promise<void> {
  const file = `${casesFolder}${title}.txt`;
  const expected = read.kind === 'known' ? { value: read.value } : { unknown: read.reason };
  const whole = `${readFileSync(file, 'utf8')}\n==> expected <==\n${JSON.stringify(expected, null, 2)}\n`;
  return expect(whole).toMatchFileSnapshot(file);
}

describe('facts from published outputs', () => {
  it.each(cases)('have the value that a person read in $title', async (one) => {
    const result = parseCase(one);
    const { value, unknown } = one.expected;
    if (Object.keys(one.expected).length === 0) await expectNewCase(one, result);
    else if (unknown === undefined) expect(result).toEqual({ kind: 'known', value });
    else expect(result).toMatchObject({ kind: 'unknown', reason: unknown });
  });

  it.each(cases)('name the tool, Mac, macOS build and place of publication in $title', (one) => {
    const [tool = '', mac = '', macos = '', published = ''] = one.source.trim().split('\n');
    const command = one.command.trim().split(' ')[0] ?? '';
    expect(command).toMatch(/^[a-z_]+$/);
    expect(tool).toContain(`Tool: \`${command}`);
    expect(mac).toMatch(/^Mac: (?:none$|.*not recorded|.*(?:Mac|Intel|Apple silicon))/);
    expect(macos).toMatch(
      /^macOS: (?:not (?:recorded|applicable)$|.*(?:build not recorded|\(\d{2}[A-Z]\d{1,5}[a-z]?\)))/,
    );
    expect(published).toMatch(/^Published: (?:no\. Reconstructed.{20,}|(?!no\.).{15,})/);
    // A case must name a Mac unless no Mac printed its output.
    expect(mac === 'Mac: none').toBe(published.startsWith('Published: no.'));
  });

  it('cover every fact that reads a macOS tool', () => {
    const ownOrTrivial = ['clock'];
    const without = factNames.filter((name) => !existsSync(casesFolder + name) && !ownOrTrivial.includes(name));
    expect(without).toEqual([]);
    expect(readdirSync(casesFolder).filter((name) => !factNames.some((fact) => fact === name))).toEqual([]);
  });
});
