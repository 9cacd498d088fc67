import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factNames } from '../../../../src/engine/observe/facts.ts';
import { casesFolder, loadFactCases, parseCase } from './fact-cases.ts';

const cases = loadFactCases();

describe('facts from published outputs', () => {
  it.each(cases)('have the value that a person read in $title', (one) => {
    const result = parseCase(one);
    const { value, unknown } = one.expected;
    if (unknown === undefined) expect(result).toEqual({ kind: 'known', value });
    else expect(result).toMatchObject({ kind: 'unknown', reason: unknown });
  });

  it.each(cases)('name the tool, Mac, macOS build and place of publication in $title', (one) => {
    const read = (file: string) => readFileSync(join(casesFolder, one.fact, one.name, file), 'utf8').trim();
    const [tool = '', mac = '', macos = '', published = ''] = read('source.md').split('\n');
    const command = read('command.txt').split(' ')[0] ?? '';
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
    const without = factNames.filter((name) => !existsSync(join(casesFolder, name)) && !ownOrTrivial.includes(name));
    expect(without).toEqual([]);
    expect(readdirSync(casesFolder).filter((name) => !factNames.some((fact) => fact === name))).toEqual([]);
  });
});
