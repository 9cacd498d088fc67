import { describe, expect, it } from 'vitest';
import { lint } from './lint.ts';
import { table } from './sources.ts';

const properties = 'eslint(no-restricted-properties)';
const globals = 'eslint(no-restricted-globals)';
const syntax = 'forbidden(syntax)';
const path = "export const a = '/usr/bin/sw_vers';";
const remote = '(remote: { exec: (line: string) => void }, name: string)';

/** A file or folder, a text in it, and the rule that must report the text; without a rule, none may. */
const cases: readonly (readonly [place: string, text: string, rule?: string])[] = [
  ['src/model', 'export const a = Date.now();', properties],
  ['src/model', 'export const a = Math.random();', properties],
  ['src/model', 'export const a = globalThis.process;', properties],
  ['src/model', 'export const a = new Date();', syntax],
  ['src/model', 'export const a = Date();', syntax],
  ['src/model', "import { randomUUID } from 'node:crypto';\nexport const a = randomUUID();", syntax],
  ['src/model', "export const a = process.env['HOME'];", globals],
  ['src/model', 'export const a = () => setTimeout(() => undefined, 1);', globals],
  ['src/model', 'export const a = () => queueMicrotask(() => undefined);', globals],
  ['src/model', 'export const a = performance.timeOrigin;', globals],
  ['src/model', 'console.log(1);', globals],
  // Pure lines that resemble the impure ones.
  ['src/model', 'export const a = (ms: number) => new Date(ms).toISOString();'],
  ['src/model', 'export const a = (process: number) => process + 1;'],
  ['src/model', "import { createHash } from 'node:crypto';\nexport const a = createHash('sha256');"],
  ...table.pure.map((folder) => [`src/${folder}`, 'export const a = Date.now();', properties] as const),
  ['src/apply', 'export const a = Date.now();'],
  // Commands for a node.
  ['src/apply/reach', `export const a = ${remote} => remote.exec(\`rm \${name}\`);`, syntax],
  ['src/apply/reach', `export const a = ${remote} => remote.exec('rm ' + name);`, syntax],
  ['src/apply/reach', 'export const a = (name: string) => ({ command: `rm ${name}` });', syntax],
  ['src/model', 'export const a = (name: string) => ({ command: `rm ${name}` });', syntax],
  // Diagnostic codes, which carry what a decision needs.
  ['src/cli', "export const a = (code: string) => code === 'ssh/refused';", syntax],
  ['src/model', "export const a = (b: { code: string }) => b.code !== 'ssh/refused';", syntax],
  ['src/cli', 'export const a = (b: { code: string }, c: string) => b.code === `rdma/${c}`;', syntax],
  ['src/cli', "export const a = ({ code }: { code: string }) => code.startsWith('ssh/');", syntax],
  ['src/cli', "export const a = (b: { code: string }) => b.code.startsWith('ssh/');", syntax],
  ['src/cli', "export const a = new Set(['ssh/refused', 'ssh/timed-out']);", syntax],
  ['src/cli', "export const a = { code: 'ssh/refused', isLate: (code: string) => code === '113' };"],
  // Time limits.
  ['src/gateway', 'export const a = AbortSignal.any([AbortSignal.timeout(1)]);', syntax],
  ['src/gateway', 'export const a = AbortSignal.any([]);'],
  ['src/sim/hosts', 'export const a = AbortSignal.timeout(1);', syntax],
  ['src/model', 'export const a = AbortSignal.timeout(1);', syntax],
  // Paths on a node, which only one module and the simulator may have.
  ['src/remote', path, syntax],
  ['src/model', path, syntax],
  ['src/remote', "export const a = '/Library';", syntax],
  ['src/remote', 'export const a = (name: string) => `/Library/LaunchDaemons/${name}.plist`;', syntax],
  ['src/remote', "export const a = ['/bin/sh', '-c'];", syntax],
  ['src/remote', "export const a = '/users';"],
  ['src/remote', "export const a = '/dev/null';"],
  ['src/remote', 'export const a = (b: string) => `${b}/usr/bin`;'],
  ['src/node/paths/node-paths.ts', path],
  ['src/node/paths', path, syntax],
  ['src/sim/hosts', path],
];

const placed = cases.map(([place, text, rule], at) => {
  return { file: place.endsWith('.ts') ? place : `${place}/probe-${at}.ts`, text, rule };
});
const broken = lint(Object.fromEntries(placed.map(({ file, text }) => [file, `${text}\n`])));

const rulesOf = (file: string) => broken.filter((one) => one.file === file).map((one) => one.rule);

describe('the linter', () => {
  it.each(placed.filter(({ rule }) => rule !== undefined))('reports $rule in $file: $text', ({ file, rule }) => {
    expect(rulesOf(file)).toContain(rule);
  });

  it.each(placed.filter(({ rule }) => rule === undefined))('accepts in $file: $text', ({ file }) => {
    expect(rulesOf(file)).toEqual([]);
  });
});
