import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'rolldown/utils';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesBelow, root, table, textOf } from './sources.ts';

describe('pure modules without a clock, randomness, timers or a process', () => {
  const folders = table.pure.filter(
    (folder) => existsSync(join(root, 'src', folder)) && filesBelow(`src/${folder}`).length > 0,
  );
  const written = folders.flatMap((folder) => filesBelow(`src/${folder}`)).filter((path) => path.endsWith('.ts'));

  it('load, check a file and a silent rack, expand a playbook, plan, and render the results', () => {
    // The build is in the source tree, so that it finds its packages.
    const compiled = mkdtempSync(join(root, 'dist-pure-'));
    onTestFinished(() => rmSync(compiled, { recursive: true, force: true }));
    for (const path of filesBelow('src').filter((name) => name.endsWith('.ts'))) {
      const { code, errors } = transformSync(path, textOf(path), {
        typescript: { rewriteImportExtensions: 'rewrite' },
      });
      expect(errors).toEqual([]);
      const target = join(compiled, path.replace(/^src\//, '').replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, code);
    }
    const words = ['test/architecture/run-pure.mjs', compiled, folders.join(','), 'yaml,semver'];
    const printed = execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 120_000 });
    expect(JSON.parse(printed)).toEqual({
      modules: written.length,
      nodes: 4,
      problems: 0,
      isScriptText: true,
      hasShown: true,
      steps: ['power/set', 'runtime/reference/switch', 'model/tiny/publish'],
      goals: ['stop', 'start'],
      isPlanShown: true,
    });
  });
});
