import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observeScript } from '../../src/node/observe-script.ts';
import { quote } from '../../src/node/quote.ts';
import { loginShells, type Shell, scriptShells } from '../unit/engine/scripts/shells.ts';

/** Words with a special meaning in a shell, among random text. */
const hostile = fc.oneof(
  fc.constantFrom('', "'", '\\', "\\'", "'\\''", '"', '$(id)', '`id`', '$HOME', '!!', '~', '*', '-n', '\n', '\\n'),
  fc.constantFrom(
    'a\\',
    '\\\\',
    "'; touch /tmp/owned; '",
    '${IFS}',
    '{1..3}',
    '#',
    '=ls',
    '%s',
    '\u001b]0;x\u0007',
    '\u2028',
  ),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
);
const word = fc
  .array(hostile, { maxLength: 4 })
  .map((parts) => Buffer.from(parts.join(''), 'utf8').toString('utf8').replaceAll('\0', ''));

/** The arguments that the shell passes on. */
function echoed({ argv: [command, ...options] }: Shell, words: readonly string[]): readonly string[] {
  const script = `exec /usr/bin/env printf '%s\\0' ${words.map(quote).join(' ')}`;
  const result = spawnSync(command, [...options, script], { timeout: 120_000 });
  return result.stdout.toString('utf8').split('\0').slice(0, -1);
}

describe('quote', () => {
  it.each(loginShells)('makes one argument that $name passes on byte for byte', (shell) => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
        expect(echoed(shell, words)).toEqual(words);
      }),
      { numRuns: 40 },
    );
  });

  it('rejects a NUL, which no command line can contain', () => {
    expect(() => quote('a\0b')).toThrow(/NUL/);
  });
});

describe('the observation script', () => {
  const boundary = '0123456789abcdef0123456789abcdef';

  it.each(scriptShells)('treats any root prefix as data under $name', ({ argv: [command, ...options] }) => {
    const check = (rootPrefix: string) => {
      const [first = ''] = observeScript({ probes: [], boundary, rootPrefix }).split(`\nT=${boundary}\n`);
      const result = spawnSync(command, [...options, `${first}\nprintf %s "$R"`], { timeout: 120_000 });
      expect(result.stdout.toString('utf8')).toBe(rootPrefix);
      expect(result.stderr.toString('utf8')).toBe('');
    };
    check('');
    fc.assert(
      fc.property(word, (text) => check(`/${text}`)),
      { numRuns: 60 },
    );
  });

  it('rejects a relative prefix, and a boundary that is not 32 hex digits', () => {
    fc.assert(
      fc.property(word, (text) => {
        fc.pre(!/^[0-9a-f]{32}$/.test(text));
        expect(() => observeScript({ probes: [], boundary: text, rootPrefix: '' })).toThrow(/boundary/);
      }),
    );
    for (const bad of [boundary.toUpperCase(), `${boundary}\n`, `${boundary}0`, `${boundary.slice(1)}$`]) {
      expect(() => observeScript({ probes: [], boundary: bad, rootPrefix: '' })).toThrow(/boundary/);
    }
    expect(() => observeScript({ probes: [], boundary, rootPrefix: 'relative' })).toThrow(/prefix/);
    expect(() => observeScript({ probes: [], boundary, rootPrefix: '-rf' })).toThrow(/prefix/);
  });
});
