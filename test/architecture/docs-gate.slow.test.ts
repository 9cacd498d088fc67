import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './sources.ts';

const compilerOptions = { module: 'NodeNext', strict: true, types: [], allowImportingTsExtensions: true, noEmit: true };

const files = {
  'tsconfig.build.json': JSON.stringify({ compilerOptions, include: ['src'] }),
  'package.json': '{ "name": "planted", "type": "module" }',
  'src/documented.ts': `/** A way to speak. */
export interface Speaker { readonly say: (text: string) => void; readonly name: string }
/** A speaker that is silent. */
export const silent = (name: string): Speaker => ({ name, say: () => own() });
function own(): void {}
`,
  'src/bare.ts': `export const constant = 1;
export const arrow = (): number => 1;
export function classic(): number { return 1; }
export interface Shape { readonly a: number }
export type Alias = Shape;
export class Live {}
`,
  'src/index.ts': `export { type Speaker, silent } from './documented.ts';
export { type Alias, arrow, classic, constant, Live, type Shape } from './bare.ts';
`,
  'src/unseen.ts': 'export const unseen = 1;\n',
  'src/astray.ts': '/** See {@link Gone}. */\nexport const astray = 1;\n',
};

describe('the docs gate', () => {
  let folder = '';
  let exit: number | null = null;
  let output = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'meshwright-docs-gate-'));
    mkdirSync(join(folder, 'src'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    copyFileSync(join(root, 'typedoc.json'), join(folder, 'typedoc.json'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const gate = join(root, 'scripts/check-docs.mjs');
    const result = spawnSync(process.execPath, [gate], { cwd: folder, encoding: 'utf8', timeout: 60_000 });
    exit = result.status;
    output = result.stdout + result.stderr;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['constant', 'arrow', 'classic', 'Shape', 'Alias', 'Live'])(
    'fails on the undocumented library export %s',
    (name) => {
      expect(output).toContain(`bare.${name} `);
      expect(exit).toBe(1);
    },
  );

  it('fails on a broken link', () => {
    expect(output).toContain('"Gone"');
  });

  it('requires no docs for members or for names that the library does not export', () => {
    expect(output).not.toContain('documented.');
    expect(output).not.toContain('unseen');
  });
});
