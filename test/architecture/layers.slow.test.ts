import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow, root, table } from './sources.ts';

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

/** Runs the program and rules of the layer gate on the `src` of a folder. */
function cruise(folder: string): Cruise {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const words = [program, 'src', '--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json'];
  return JSON.parse(
    execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8', maxBuffer: 64e6, timeout: 120_000 }),
  );
}

/** File → text of a small tree; each file breaks the rule named next to it. */
const planted: readonly (readonly [file: string, text: string, rule?: string])[] = [
  ['src/diagnostics/below.ts', 'export interface Below { readonly kind: "below" }\n'],
  [
    'src/model/upward.ts',
    'import type { Below } from "../diagnostics/below.ts";\nexport type Upward = Below;\n',
    'layer-model',
  ],
  ['src/desired/left.ts', 'import type { Right } from "./right.ts";\nexport type Left = Right | 1;\n', 'no-cycle'],
  ['src/desired/right.ts', 'import type { Left } from "./left.ts";\nexport type Right = Left | 2;\n'],
  [
    'src/rack/clock/fact.ts',
    'import type { Left } from "../../desired/left.ts";\nexport type Sideways = Left;\n',
    'part-rack-fact',
  ],
  ['src/rack/boot/session-fact.ts', 'export * from "../../sim/knows-a-fact.ts";\n', 'layer-rack'],
  ['src/sim/knows-a-fact.ts', 'export * from "../rack/clock/fact.ts";\n', 'layer-sim'],
  ['src/rack/clock/rule.ts', 'export * from "./resource.ts";\n', 'part-rack-rule'],
  ['src/rack/clock/resource.ts', 'export * from "./fact.ts";\n'],
  ['src/rack/clock/set-clock-script.ts', 'export * from "./fact.ts";\n', 'part-rack-script'],
  ['src/rack/clock/reading.ts', 'export * from "./set-clock-script.ts";\n', 'part-rack-reading'],
  ['src/rack/placement/mesh/start-mesh.ts', 'export * from "../../clock/rule.ts";\n', 'part-rack-mesh'],
  ['src/rack/cabling/moves.ts', 'export * from "../../desired/left.ts";\n', 'part-rack-geometry'],
  ['src/rack/stray/fact.ts', 'export * from "../../model/upward.ts";\n', 'known-subject'],
  ['src/rack/network/resource.ts', 'export * from "../access/resource.ts";\n', 'level-network'],
  ['src/rack/access/resource.ts', 'export * from "../bridge/resource.ts";\n', 'level-access'],
  ['src/rack/bridge/resource.ts', 'export * from "../keeper/fact.ts";\n'],
  ['src/rack/keeper/fact.ts', 'export * from "../../model/upward.ts";\n'],
  ['src/rack/resource.ts', 'export * from "./clock/resource.ts";\n', 'level-contract'],
  ['src/rack/cabling/rule.ts', 'export * from "../define-rule.ts";\n', 'level-cabling'],
  ['src/rack/define-rule.ts', 'export * from "../model/upward.ts";\n'],
  ['src/node/quote.ts', 'export * from "./answers/grammar.ts";\n', 'part-node-sent'],
  ['src/node/answers/grammar.ts', 'export * from "../../model/upward.ts";\n'],
  ['src/remote/reads-an-answer.ts', 'export * from "../node/answers/grammar.ts";\n', 'part-remote'],
  ['src/engine/scripts/registry.ts', 'export * from "../../rack/clock/resource.ts";\n', 'part-engine-scripts'],
  ['src/engine/unknown.ts', 'export * from "../model/upward.ts";\n', 'known-part'],
  ['src/report/reads-a-script.ts', 'export * from "../rack/clock/set-clock-script.ts";\n', 'part-report'],
  [
    'src/config/reads.ts',
    'import { readFileSync } from "node:fs";\nexport const read = readFileSync;\n',
    'pure-folders',
  ],
  ['src/report/waits.ts', 'export { setTimeout } from "node:timers/promises";\n', 'pure-folders'],
  [
    'src/desired/names-a-process.ts',
    'import { execFile } from "child_process";\nexport const run = execFile;\n',
    'pure-folders',
  ],
  ['src/apply/shell.ts', 'import { Client } from "ssh2";\nexport const client = Client;\n', 'package-ssh2'],
  ['src/apply/types-only.ts', 'import type { Client } from "ssh2";\nexport type Mine = Client;\n', 'package-ssh2'],
  ['src/desired/parses.ts', 'import { parse } from "yaml";\nexport const yaml = parse;\n', 'package-yaml'],
  ['src/rack/macos/rule.ts', 'import semver from "semver";\nexport const judge = semver;\n', 'package-semver'],
  ['src/apply/asks.ts', 'import { Command } from "commander";\nexport const verb = Command;\n', 'package-commander'],
  ['src/cli/draws.ts', 'import { Listr } from "listr2";\nexport const list = Listr;\n', 'package-listr2'],
  ['src/cli/tests.ts', 'import { it } from "vitest";\nexport const test = it;\n', 'unlisted-package'],
  ['src/apply/asks-the-shell.ts', 'export * from "../cli/tests.ts";\n', 'only-the-library-imports-the-command-line'],
  ['src/remote/needs-a-test.ts', 'export * from "../../test/case.ts";\n', 'src-without-tests'],
  ['test/case.ts', 'export const one = 1;\n'],
  ['src/model/alone.ts', 'export const alone = 1;\n', 'no-orphan'],
  ['src/stray/file.ts', 'export * from "../model/upward.ts";\n', 'known-folder'],
  ['src/remote/nowhere.ts', 'export * from "./gone.ts";\n', 'no-unresolvable'],
  [
    'tsconfig.json',
    '{ "compilerOptions": { "module": "NodeNext", "allowImportingTsExtensions": true, "noEmit": true } }\n',
  ],
  ['package.json', '{ "name": "planted", "type": "module" }\n'],
];

describe('the import rules', () => {
  it('cover every file in src, and no file violates an import rule', () => {
    const { modules, summary } = cruise(root);
    const seen = modules.map((one) => one.source).filter((source) => source.startsWith('src/'));
    expect(seen.sort()).toEqual(filesBelow('src').filter((path) => path.endsWith('.ts')));
    expect(summary.violations.map((one) => `${one.rule.name}: ${one.from}`)).toEqual([]);
  });

  it('have a table row for every folder in src', () => {
    const folders = new Set(filesBelow('src').flatMap((path) => path.split('/').slice(1, -1).slice(0, 1)));
    expect([...folders].filter((folder) => table.layers[folder] === undefined)).toEqual([]);
  });

  it('assign every file in node, rack and engine to exactly one part, and leave no part empty', () => {
    const paths = filesBelow('src').filter((path) => path.endsWith('.ts'));
    const parts = Object.keys(table.parts);
    const isOf = (part: string, path: string): boolean => new RegExp(table.filesOf([part])).test(path);
    const found = paths
      .filter((path) => /^src\/(?:node|rack|engine)\//.test(path))
      .map((path) => [path, parts.filter((part) => isOf(part, path)).length]);
    expect(found.filter(([, count]) => count !== 1)).toEqual([]);
    expect(parts.filter((part) => !paths.some((path) => isOf(part, path)))).toEqual([]);
  });

  it('assign one level to each existing rack subject', () => {
    const subjects = filesBelow('src/rack').map((path) => path.split('/'));
    const folders = subjects.map((path) => (path.length === 3 ? table.contract : (path[2] ?? '')));
    expect(table.levels.flat().toSorted()).toEqual([...new Set(folders)].toSorted());
  });
});

describe('the layer gate', () => {
  let folder = '';
  let found: ReadonlySet<string> = new Set();

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'meshwright-layers-'));
    for (const [file, text] of planted) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    found = new Set(cruise(folder).summary.violations.map((one) => `${one.rule.name}: ${one.from}`));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(planted.flatMap(([file, , rule]) => (rule === undefined ? [] : [[rule, file] as const])))(
    'reports %s for %s',
    (rule, file) => {
      expect([...found]).toContain(`${rule}: ${file}`);
    },
  );
});
