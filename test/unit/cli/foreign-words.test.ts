import { describe, expect, it } from 'vitest';
import { parseCommandLine, suggestedCommand } from '../../../src/cli/run.ts';
import { verbs } from '../../../src/cli/verbs.ts';
import { problemsOf } from '../problems-of.ts';

const names = verbs.map(({ name }) => name);

/** The hint of a rejected command line, without the help command. */
function hintFor(...words: string[]): string | undefined {
  const [problem] = problemsOf(() => parseCommandLine(verbs, { out: () => undefined, columns: 80 }, words));
  return problem?.hint.replace(/ ?See: .*$/, '');
}

describe('a command from another tool', () => {
  it.each([
    ['up deploy install converge provision sync', 'apply'],
    ['down kill stopp', 'stop'],
    ['ps ls list top get show info watch', 'status'],
    ['ssh shell', 'exec'],
    ['destroy remove delete purge', 'uninstall'],
    ['diagnose', 'doctor'],
    ['sosreport sysdiagnose', 'bundle'],
    ['repair fix heal', 'recover'],
    ['diff preview', 'plan'],
    ['init new create', 'sim example'],
    ['lint check vaildate', 'validate'],
    ['describe inspect', 'facts'],
    ['tail log', 'logs'],
    ['cordon', 'hold'],
    ['uncordon', 'release'],
    ['chat prompt', 'ask'],
    ['halt poweroff', 'shutdown'],
    ['join bootstrap', 'enroll'],
    ['version', '--version'],
    ['man', '--help'],
  ])('gets a suggestion: %s, %s', (words, meant) => {
    const [first = '', ...others] = words.split(' ');
    expect(hintFor(first)).toBe(`Did you mean ${meant}?`);
    for (const word of others) expect(suggestedCommand(word, names)).toBe(meant);
  });

  it('gets no suggestion for a disruptive command if its beginning differs', () => {
    for (const word of ['topp', 'atop', 'xstop', 'preboot']) expect(suggestedCommand(word, names)).toBeUndefined();
  });

  it('is compared with the commands in its group', () => {
    expect(hintFor('sim', 'upp')).toBe('Did you mean up?');
    expect(hintFor('sim', 'ps')).toBe('Did you mean status?');
    expect(hintFor('sim', 'deploy')).toBe('');
  });
});

describe('an option from another tool', () => {
  it.each([
    ['apply', '-y --auto-approve -auto-approve --assume-yes', '--yes'],
    ['apply', '--dry-run', 'meshwright plan'],
    ['plan', '-o', '--out'],
    ['status', '-o -j --output --format --jsn', '--json'],
    ['status', '-n --limit --host --hosts --target -target', '--nodes'],
    ['status', '-?', '--help'],
    ['doctor', '--watch -w', 'watch -n 10 meshwright doctor'],
    ['status', '-w', '--watch'],
    ['cables', '-w', '--watch'],
    ['logs', '-n', '--lines'],
  ])('gets a suggestion: %s %s, %s', (verb, options, meant) => {
    for (const option of options.split(' ')) expect(hintFor(verb, option, 'x')).toBe(`Did you mean ${meant}?`);
  });
});
