import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesBelow, root, table } from './sources.ts';

describe('pure modules without a clock, randomness, timers or a process', () => {
  const folders = table.pure.filter(
    (folder) => existsSync(join(root, 'src', folder)) && filesBelow(`src/${folder}`).length > 0,
  );
  const written = folders.flatMap((folder) => filesBelow(`src/${folder}`)).filter((path) => path.endsWith('.ts'));

  it('load, check a file and a silent rack, expand a playbook, plan, and render the results', () => {
    // The build is in the source tree, so that it finds its packages.
    const compiled = mkdtempSync(join(root, 'dist-pure-'));
    onTestFinished(() => rmSync(compiled, { recursive: true, force: true }));
    const node = (...words: string[]): string =>
      execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 120_000 });
    node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck', '--outDir', compiled);
    const printed = node('test/architecture/run-pure.mjs', compiled, folders.join(','), 'yaml,semver');
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
