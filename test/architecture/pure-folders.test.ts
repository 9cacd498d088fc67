import { join } from 'node:path';
import { ESLint, type Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { filesBelow, root, table } from './sources.ts';

/** The rules for folders need no types, which take a minute to read. */
const lint = new ESLint({ cwd: root, overrideConfig: tseslint.configs.disableTypeChecked as Linter.Config });

/** The rules that the linter reports for a file of src with this text. */
async function rulesBroken(file: string, text: string): Promise<readonly string[]> {
  const [result] = await lint.lintText(text, { filePath: join(root, file) });
  return (result?.messages ?? []).map((one) => one.ruleId ?? one.message);
}

/** An impure line and the rule that must report it. */
const reaches: readonly (readonly [line: string, rule: string])[] = [
  ['export const a = Date.now();', 'no-restricted-properties'],
  ['export const a = Math.random();', 'no-restricted-properties'],
  ['export const a = globalThis.process;', 'no-restricted-properties'],
  ['export const a = new Date();', 'no-restricted-syntax'],
  ['export const a = Date();', 'no-restricted-syntax'],
  ["import { randomUUID } from 'node:crypto';\nexport const a = randomUUID();", 'no-restricted-syntax'],
  ["export const a = process.env['HOME'];", 'no-restricted-globals'],
  ['export const a = () => setTimeout(() => undefined, 1);', 'no-restricted-globals'],
  ['export const a = () => queueMicrotask(() => undefined);', 'no-restricted-globals'],
  ['export const a = performance.timeOrigin;', 'no-restricted-globals'],
  ['console.log(1);', 'no-restricted-globals'],
];

/** Pure lines that resemble the impure ones. */
const harmless = [
  'export const a = (ms: number) => new Date(ms).toISOString();',
  'export const a = (process: number) => process + 1;',
  "import { createHash } from 'node:crypto';\nexport const a = createHash('sha256');",
];

const foldersThere = new Set(filesBelow('src').flatMap((path) => path.split('/').slice(1, -1).slice(0, 1)));
const oneFilePerPureFolder = table.pure
  .filter((folder) => foldersThere.has(folder))
  .map(
    (folder) => filesBelow(`src/${folder}`).find((path) => path.endsWith('.ts') && !path.includes('generated')) ?? '',
  );

describe('the linter in pure folders', () => {
  it.each(reaches)('reports %s', async (line, rule) => {
    expect(await rulesBroken('src/model/probe.ts', `${line}\n`)).toContain(rule);
  });

  it.each(harmless)('accepts %s', async (line) => {
    expect(await rulesBroken('src/model/probe.ts', `${line}\n`)).toEqual([]);
  });

  it.each(oneFilePerPureFolder)('applies to the folder that contains %s', async (file) => {
    expect(await rulesBroken(file, 'export const a = Date.now();\n')).toContain('no-restricted-properties');
  });
});

describe('the linter for node commands', () => {
  it.each([
    'export const a = (remote: { exec: (line: string) => void }, name: string) => remote.exec(`rm ${name}`);\n',
    "export const a = (remote: { exec: (line: string) => void }, name: string) => remote.exec('rm ' + name);\n",
    'export const a = (name: string) => ({ command: `rm ${name}` });\n',
  ])('rejects %s', async (text) => {
    expect(await rulesBroken('src/apply/reach/session.ts', text)).toContain('no-restricted-syntax');
  });
});

describe('the linter for node paths', () => {
  const path = "export const a = '/usr/bin/sw_vers';\n";

  it.each([
    path,
    "export const a = '/Library';\n",
    'export const a = (name: string) => `/Library/LaunchDaemons/${name}.plist`;\n',
    "export const a = ['/bin/sh', '-c'];\n",
  ])('rejects %s', async (text) => {
    expect(await rulesBroken('src/remote/remote.ts', text)).toContain('no-restricted-syntax');
    expect(await rulesBroken('src/model/probe.ts', text)).toContain('no-restricted-syntax');
  });

  it.each([
    "export const a = '/users';\n",
    "export const a = '/dev/null';\n",
    'export const a = (b: string) => `${b}/usr/bin`;\n',
  ])('accepts %s', async (text) => {
    expect(await rulesBroken('src/remote/remote.ts', text)).toEqual([]);
  });

  it('allows paths only in node-paths.ts and the simulator', async () => {
    const homes = [
      'src/node/paths/node-paths.ts',
      ...filesBelow('src/sim')
        .filter((file) => file.endsWith('.ts'))
        .slice(0, 1),
    ];
    for (const home of homes) expect(await rulesBroken(home, path)).toEqual([]);
    expect(homes).toHaveLength(2);
  });
});
