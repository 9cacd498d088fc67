import type { GeneralCode } from '../../../src/diagnostics/diagnose.ts';

/** An invalid file that only a program can write: too large, too deep, or not a text. */
export interface WrittenCase {
  readonly name: string;
  readonly input: string | Uint8Array;
  readonly code: GeneralCode;
  readonly line: number;
  readonly column: number;
}

const nodes = 'schema: 1\nname: rack\nnodes: { a: { host: a.lan } }\n';
const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

/** Ten levels with nine aliases each: 3.5 billion values from ten lines. */
const aliasBomb = [...'bcdefghij'].reduce(
  (text, name, index) => `${text}${name}: &${name} [${`*${'abcdefghi'[index]}, `.repeat(9)}]\n`,
  'a: &a [x, x, x, x, x, x, x, x, x]\n',
);

/** Cases without a file: each names a code that the diagnostics must contain, and its place. */
export const writtenCases: readonly WrittenCase[] = [
  { name: '100 MB', input: 'a'.repeat(100_000_000), code: 'yaml/too-large', line: 1, column: 1 },
  { name: 'one byte too many', input: new Uint8Array(524_289), code: 'yaml/too-large', line: 1, column: 1 },
  { name: '10,000 open brackets', input: `a: ${'['.repeat(10_000)}`, code: 'yaml/too-deep', line: 1, column: 67 },
  { name: '10,000 nested dashes', input: '- '.repeat(10_000), code: 'yaml/too-deep', line: 1, column: 129 },
  { name: '10,000 nested keys', input: '{a: '.repeat(10_000), code: 'yaml/too-deep', line: 1, column: 254 },
  { name: 'an alias bomb', input: aliasBomb, code: 'yaml/too-many-values', line: 5, column: 24 },
  {
    name: 'a list of 60,000',
    input: `[${'a,'.repeat(60_000)}]`,
    code: 'yaml/too-many-values',
    line: 1,
    column: 100_000,
  },
  { name: 'Latin-1', input: bytes(`${nodes}# caf\u00e9\n`), code: 'yaml/not-utf8', line: 4, column: 6 },
  { name: 'text decoded from other bytes', input: `${nodes}# \ufffd\n`, code: 'yaml/not-utf8', line: 4, column: 3 },
  { name: 'UTF-16', input: bytes('\u00ff\u00fea\u0000'), code: 'yaml/not-utf8', line: 1, column: 1 },
  { name: 'NUL', input: `${nodes}# \u0000\n`, code: 'yaml/control-character', line: 4, column: 3 },
  { name: 'a terminal command', input: `${nodes}# \u001b[2J\n`, code: 'yaml/control-character', line: 4, column: 3 },
  {
    name: 'a hidden change of text direction',
    input: `${nodes}# \u202e\n`,
    code: 'yaml/control-character',
    line: 4,
    column: 3,
  },
  { name: 'half a character', input: `${nodes}# \ud83d\n`, code: 'yaml/control-character', line: 4, column: 3 },
  { name: 'old Mac line ends', input: 'schema: 1\rname: rack\r', code: 'yaml/control-character', line: 1, column: 10 },
  {
    name: 'a hundred and one unknown keys',
    input: `${nodes}${Array.from({ length: 101 }, (_, index) => `x${index}: 1\n`).join('')}`,
    code: 'yaml/more-problems',
    line: 104,
    column: 1,
  },
];
