import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { ciSteps } from '../ci-examples.ts';
import { endPlace } from './fleet.ts';
import { longestRunMs, mainFile, meshwright } from './meshwright.ts';
import { makePlace, type Place } from './place.ts';

let place: Place;

/** Installs a program first on the PATH of the steps. */
function install(name: string, text: string): void {
  const path = join(place.root, 'bin', name);
  mkdirSync(join(place.root, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

beforeAll(async () => {
  place = makePlace();
  await prepareDemo(place.folder);
  copyFileSync(
    fileURLToPath(new URL('../../examples/ci/rollout.yaml', import.meta.url)),
    place.write('rollout.yaml', ''),
  );
  // The same commands on the simulated rack; only `validate` reaches no node.
  install('meshwright', `[ "$1" = validate ] || set -- "$@" --sim\nexec "${process.execPath}" "${mainFile}" "$@"`);
  install('gh', `echo "gh $*" >> gh.log\n[ "$1" = api ] && echo 0123abc\n[ "$1 $2" = "run list" ] && echo 77\nexit 0`);
  install('git', 'echo "git $*" >> git.log');
  expect((await meshwright(place, ['sim', 'up'])).code).toBe(0);
});
afterAll(() => endPlace(place));

/** Runs the steps of a job as its CI does, and returns their exit codes. */
function runJob(ci: keyof typeof ciSteps, job: string): readonly (number | null)[] {
  const env = {
    ...place.env,
    PATH: `${join(place.root, 'bin')}:${place.env['PATH']}`,
    CI: 'true',
    ...{ GITHUB_REPOSITORY: 'acme/rack', GITHUB_SHA: 'fedc987', PULL_REQUEST: '12', MESHWRIGHT_FILE: 'cluster.yaml' },
  };
  const scripts = ciSteps[ci].filter((step) => step.job === job).map(({ script }) => script);
  expect(scripts).not.toEqual([]);
  return scripts.map((script) => {
    const ran = spawnSync('bash', ['-e', '-c', script], { cwd: place.folder, env, timeout: longestRunMs });
    return ran.status;
  });
}

const textIn = (name: string): string => readFileSync(join(place.folder, name), 'utf8');

describe('examples/ci/github.yml on a simulated rack', () => {
  it('posts the plan to a pull request', () => {
    expect(runJob('github', 'plan')).toEqual([0, 0, 0]);
    expect(textIn('comment.md')).toMatch(/^```\nstudio-rack {3}4 nodes[\s\S]*placement\/chat[\s\S]*```\n$/);
    expect(textIn('gh.log')).toBe('gh pr comment 12 --edit-last --create-if-none --body-file comment.md\n');
  });

  it('reports drift, and opens an issue', () => {
    expect(runJob('github', 'drift')).toEqual([2, 0]);
    expect(textIn('drift.txt')).toMatch(/\d+ changes pending/);
    expect(textIn('gh.log')).toContain('gh issue create --title The rack has drifted --body-file drift.txt\n');
  });

  it('applies the saved plan', () => {
    expect(runJob('github', 'apply')).toEqual([0, 0, 0]);
    expect(textIn('gh.log')).toContain('gh run download 77 --name plan\n');
    expect(textIn('git.log')).toContain('git add cluster.lock\n');
    expect(runJob('github', 'drift')[0]).toBe(0);
  });

  it('refuses the plan if the rack has changed since', async () => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-1']);
    expect(runJob('github', 'apply')[1]).toBe(5);
  });
});

describe('examples/ci/gitlab.yml on a simulated rack', () => {
  it('plans, applies the plan, and then finds no drift', () => {
    for (const name of ['plan.json', 'plan.txt']) rmSync(join(place.folder, name));
    expect(runJob('gitlab', 'drift')).toEqual([2]);
    expect(runJob('gitlab', 'plan')).toEqual([0, 0]);
    expect([existsSync(join(place.folder, 'plan.json')), textIn('plan.txt')]).toEqual([
      true,
      expect.stringContaining('power/sleep'),
    ]);
    expect(runJob('gitlab', 'apply')).toEqual([0, 0]);
    expect(runJob('gitlab', 'drift')).toEqual([0]);
  });

  it('rolls out a change to one Mac first', async () => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-2']);
    expect(runJob('gitlab', 'rollout')).toEqual([0, 0]);
    expect(runJob('gitlab', 'drift')).toEqual([0]);
  });
});
