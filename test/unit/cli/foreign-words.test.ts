import { describe, expect, it } from 'vitest';
import { meantCommand, parseCommandLine } from '../../../src/cli/run.ts';
import { verbs } from '../../../src/cli/verbs.ts';
import { FleetError } from '../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';

const names = verbs.map(({ name }) => name);

/** The hint of a rejected command line, without the help command. */
function hintFor(...words: string[]): string {
  try {
    parseCommandLine(verbs, { out: () => undefined, columns: 80 }, words);
  } catch (error) {
    if (error instanceof FleetError) return plainText(error.diagnostics[0].hint).replace(/ ?See: .*$/, '');
  }
  return 'accepted';
}

describe('a command from another tool', () => {
  it.each([
    ['up', 'apply'],
    ['down', 'stop'],
    ['ps', 'status'],
    ['top', 'status'],
    ['watch', 'status'],
    ['ssh', 'exec'],
    ['destroy', 'uninstall'],
    ['repair', 'doctor'],
    ['diff', 'plan'],
    ['init', 'sim example'],
    ['version', '--version'],
    ['vaildate', 'validate'],
    ['stopp', 'stop'],
  ])('gets a suggestion: %s, %s', (word, meant) => {
    expect(meantCommand(word, names)).toBe(meant);
    expect(hintFor(word)).toBe(`Did you mean ${meant}?`);
  });

  it('gets no suggestion for a disruptive command if its beginning differs', () => {
    expect(['topp', 'atop', 'xstop', 'preboot'].map((word) => meantCommand(word, names))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is compared with the commands in its group', () => {
    expect(hintFor('sim', 'upp')).toBe('Did you mean up?');
    expect(hintFor('sim', 'ps')).toBe('Did you mean status?');
    expect(hintFor('sim', 'deploy')).toBe('');
  });
});

describe('an option from another tool', () => {
  it.each([
    [['apply', '-y'], '--yes'],
    [['apply', '--auto-approve'], '--yes'],
    [['apply', '-auto-approve'], '--yes'],
    [['apply', '--dry-run'], 'meshwright plan'],
    [['plan', '-o', 'p.json'], '--out'],
    [['status', '-o', 'json'], '--json'],
    [['status', '--watch'], 'watch -n 10 meshwright status'],
    [['logs', '-n', '5'], '--lines'],
    [['status', '--jsn'], '--json'],
  ])('gets a suggestion: %j, %s', (words, meant) => {
    expect(hintFor(...words)).toBe(`Did you mean ${meant}?`);
  });
});
