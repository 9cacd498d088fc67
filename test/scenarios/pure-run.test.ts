import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, root, table } from '../architecture/sources.ts';

describe('pure modules where clock, randomness, timers and process throw', () => {
  const folders = table.pure.filter(
    (folder) => existsSync(join(root, 'src', folder)) && filesBelow(`src/${folder}`).length > 0,
  );
  const written = folders.flatMap((folder) => filesBelow(`src/${folder}`)).filter((path) => path.endsWith('.ts'));

  it('can all be imported, judge a file and a silent rack, expand a playbook, plan, and say how and what', () => {
    const words = [join(root, 'test/architecture/run-pure.mjs'), join(root, 'dist'), folders.join(','), 'yaml,semver'];
    const printed = execFileSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000 });
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
