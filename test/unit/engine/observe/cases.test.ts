import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { factNames, registry } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import { valueLines } from '../../../../src/report/facts-text.ts';
import { casesFolder, type FactCase, loadFactCases, parseCase } from './fact-cases.ts';

const cases = loadFactCases();

/** Fails with the value that was read; with `-u`, vitest adds the value to the file, for a person to check. */
function expectNewCase({ title }: FactCase, read: Known<unknown>): Promise<void> {
  const file = `${casesFolder}${title}.txt`;
  const expected = read.kind === 'known' ? { value: read.value } : { unknown: read.reason };
  const whole = `${readFileSync(file, 'utf8')}\n==> expected <==\n${JSON.stringify(expected, null, 2)}\n`;
  return expect(whole).toMatchFileSnapshot(file);
}

/** A mark for each line of a case with this damage: the fact is unknown (`?`), has another value (`!`), or stays (`.`). */
function marksOf(one: FactCase, damage: (line: string) => readonly string[]): string {
  const whole = JSON.stringify(parseCase(one));
  const marks = [...one.printed].flatMap(([probe, printed]) => {
    const lines = printed.stdout.split('\n').slice(0, 100);
    return lines.map((line, at) => {
      const stdout = lines.toSpliced(at, 1, ...damage(line)).join('\n');
      const read = parseCase(one, new Map([...one.printed, [probe, { ...printed, stdout }]]));
      return read.kind === 'unknown' ? '?' : JSON.stringify(read) === whole ? '.' : '!';
    });
  });
  return marks.join('');
}

describe('facts from published outputs', () => {
  it.each(cases)('have the value that a person read in $title', async (one) => {
    const result = parseCase(one);
    const { value, unknown } = one.expected;
    if (Object.keys(one.expected).length === 0) await expectNewCase(one, result);
    else if (unknown === undefined) expect(result).toEqual({ kind: 'known', value });
    else expect(result).toMatchObject({ kind: 'unknown', reason: unknown });
  });

  it('are shown as in golden/texts.txt', async () => {
    const pages = cases.map((one) => {
      const read = parseCase(one);
      const lines = read.kind === 'known' ? valueLines(registry[one.fact], read.value, true) : [JSON.stringify(read)];
      return [one.title, ...lines.map((line) => `  ${[line].flat().join(', ')}`)].join('\n');
    });
    await expect(`${pages.join('\n')}\n`).toMatchFileSnapshot('golden/texts.txt');
  });

  it('detect damaged lines as in golden/damaged-lines.txt', async () => {
    const known = cases.filter((one) => parseCase(one).kind === 'known');
    const pages = known.map((one) => [
      one.title,
      `  ${marksOf(one, (line) => [`x${line}`])} with x before`,
      `  ${marksOf(one, (line) => [`${line}x`])} with x after`,
      `  ${marksOf(one, (line) => [line.replace(/\d(?!.*\d)/, (digit) => String((Number(digit) + 1) % 10))])} with another last digit`,
      `  ${marksOf(one, () => [])} missing`,
      `  ${marksOf(one, (line) => [line, line])} twice`,
    ]);
    await expect(`${pages.flat().join('\n')}\n`).toMatchFileSnapshot('golden/damaged-lines.txt');
  });

  it.each(cases)('name the tool, Mac, macOS build and place of publication in $title', (one) => {
    const [tool = '', mac = '', macos = '', published = ''] = one.source.trim().split('\n');
    const command = one.command.trim().split(' ')[0] ?? '';
    expect(command).toMatch(/^[a-z_]+$/);
    expect(tool).toContain(`Tool: \`${command}`);
    expect(mac).toMatch(/^Mac: (?:none$|.*not recorded|.*(?:Mac|Intel|Apple silicon))/);
    expect(macos).toMatch(
      /^macOS: (?:not (?:recorded|applicable)$|.*(?:build not recorded|\(\d{2}[A-Z]\d{1,6}[a-z]?\)))/,
    );
    expect(published).toMatch(/^Published: (?:no\. Reconstructed.{20,}|(?!no\.).{15,})/);
    // A case must name a Mac unless no Mac printed its output.
    expect(mac === 'Mac: none').toBe(published.startsWith('Published: no.'));
  });

  it('cover every fact that reads a macOS tool', () => {
    expect(factNames.filter((name) => !existsSync(casesFolder + name))).toEqual([]);
    expect(readdirSync(casesFolder).filter((name) => !factNames.some((fact) => fact === name))).toEqual([]);
  });
});
