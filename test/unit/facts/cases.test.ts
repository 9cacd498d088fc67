import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factNames } from '../../../src/facts/registry.ts';
import { casesFolder, judge, loadFactCases } from './fact-cases.ts';

const cases = loadFactCases();

describe('facts from published outputs', () => {
  it.each(cases)('$title gives what a person read in it', (one) => {
    const result = judge(one);
    const { value, unknown } = one.expected;
    if (unknown === undefined) expect(result).toEqual({ kind: 'known', value });
    else expect(result).toMatchObject({ kind: 'unknown', reason: unknown });
  });

  it.each(cases)('$title names its command and its source', ({ fact, name }) => {
    const read = (file: string) => readFileSync(join(casesFolder, fact, name, file), 'utf8').trim();
    expect(read('command.txt')).not.toBe('');
    expect(read('source.md')).toMatch(/macOS|RECONSTRUCTED|20\d\d|As .*|exit 113/);
  });

  it('has a case for every fact that reads a tool of macOS', () => {
    const ownOrTrivial = ['jobs', 'leases', 'clock'];
    const without = factNames.filter((name) => !existsSync(join(casesFolder, name)) && !ownOrTrivial.includes(name));
    expect(without).toEqual([]);
    expect(readdirSync(casesFolder).filter((name) => !factNames.some((fact) => fact === name))).toEqual([]);
  });
});
