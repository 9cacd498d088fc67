import { describe, expect, it } from 'vitest';
import { textOf } from './sources.ts';

const rows = textOf('SECURITY.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\|/, '').trim()));
const codesIn = (cell: string | undefined): readonly string[] =>
  [...(cell ?? '').matchAll(/`([a-z]+\/[a-z-]+)`/g)].map(([, code]) => code ?? '');

describe('the hostile answer table in SECURITY.md', () => {
  it('lists exactly the codes that the scenarios expect', () => {
    const demanded = [
      ...textOf('test/scenarios/hostile-streams.slow.test.ts').matchAll(/^ {4}code: '([a-z]+\/[a-z-]+)'/gm),
    ];
    const inRows = textOf('test/scenarios/hostile-streams.slow.test.ts').matchAll(/, code: '([a-z]+\/[a-z-]+)'/g);
    const codes = new Set([...demanded, ...inRows].map(([, code]) => code));
    expect(codes.size).toBeGreaterThan(7);
    expect(new Set(rows.flatMap(([, code]) => codesIn(code)))).toEqual(codes);
  });

  it('lists the exit codes that the scenarios expect', () => {
    const streams = rows.filter(([, code]) => codesIn(code).length > 0);
    expect(textOf('test/scenarios/hostile-streams.slow.test.ts')).toContain('toEqual(verbs.map(() => 1))');
    expect(new Set(streams.map(([, , facts, status]) => `${facts} ${status}`))).toEqual(new Set(['1 1']));
    const exits = [...textOf('test/scenarios/hostile-contents.slow.test.ts').matchAll(/exits: \[(\d), (\d)\]/g)];
    const contents = rows.filter(([, code, facts]) => code === '–' && facts !== '');
    expect(new Set(contents.map(([, , facts, status]) => `${facts} ${status}`))).toEqual(
      new Set(exits.map(([, facts, status]) => `${facts} ${status}`)),
    );
    expect(contents.length).toBeGreaterThan(3);
  });
});
