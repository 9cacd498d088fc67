import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { ciSteps } from '../ci-examples.ts';
import { endPlace } from './fleet.ts';
import { meshwright } from './meshwright.ts';
import { makePlace, type Place } from './place.ts';
import { install, program, shell } from './shell.ts';

let place: Place;

beforeAll(async () => {
  place = makePlace();
  await prepareDemo(place.folder);
  copyFileSync(
    fileURLToPath(new URL('../../examples/ci/rollout.yaml', import.meta.url)),
    place.write('rollout.yaml', ''),
  );
  // The same commands on the simulated rack; only `validate` reaches no node.
  install(place, 'meshwright', `[ "$1" = validate ] || set -- "$@" --sim\n${program}`);
  install(
    place,
    'gh',
    `echo "gh $*" >> gh.log\n[ "$1" = api ] && echo 0123abc\n[ "$1 $2" = "run list" ] && echo 77\nexit 0`,
  );
  install(place, 'git', 'echo "git $*" >> git.log');
  expect((await meshwright(place, ['sim', 'up'])).code).toBe(0);
});
afterAll(() => endPlace(place));

/** Runs the steps of a job as its CI does, and returns their exit codes. */
async function runJob(ci: keyof typeof ciSteps, job: string): Promise<readonly (number | null)[]> {
  const env = {
    CI: 'true',
    ...{ GITHUB_REPOSITORY: 'acme/rack', GITHUB_SHA: 'fedc987', PULL_REQUEST: '12', MESHWRIGHT_FILE: 'cluster.yaml' },
  };
  const scripts = ciSteps[ci].filter((step) => step.job === job).map(({ script }) => script);
  expect(scripts).not.toEqual([]);
  const codes: (number | null)[] = [];
  for (const script of scripts) codes.push((await shell(place, script, { env })).code);
  return codes;
}

const textIn = (name: string): string => readFileSync(join(place.folder, name), 'utf8');

describe('examples/ci/github.yml on a simulated rack', () => {
  it('posts the plan to a pull request', async () => {
    expect(await runJob('github', 'plan')).toEqual([0, 0, 0]);
    expect(textIn('comment.md')).toMatch(/^```\nstudio-rack {3}4 nodes[\s\S]*placement\/chat[\s\S]*```\n$/);
    expect(textIn('gh.log')).toBe('gh pr comment 12 --edit-last --create-if-none --body-file comment.md\n');
  });

  it('reports drift, and opens an issue', async () => {
    expect(await runJob('github', 'drift')).toEqual([2, 0]);
    expect(textIn('drift.txt')).toMatch(/\d+ changes pending/);
    expect(textIn('gh.log')).toContain('gh issue create --title The rack has drifted --body-file drift.txt\n');
  });

  it('applies the saved plan', async () => {
    expect(await runJob('github', 'apply')).toEqual([0, 0, 0]);
    expect(textIn('gh.log')).toContain('gh run download 77 --name plan\n');
    expect(textIn('git.log')).toContain('git add cluster.lock\n');
    expect((await runJob('github', 'drift'))[0]).toBe(0);
  });

  it('refuses a saved plan if the rack has changed since the plan was made', async () => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-1']);
    expect((await runJob('github', 'apply'))[1]).toBe(5);
  });
});

describe('examples/ci/gitlab.yml on a simulated rack', () => {
  it('makes a plan, applies it, and then finds no drift', async () => {
    for (const name of ['plan.json', 'plan.txt']) rmSync(join(place.folder, name));
    expect(await runJob('gitlab', 'drift')).toEqual([2]);
    expect(await runJob('gitlab', 'plan')).toEqual([0, 0, 0, 0]);
    expect([existsSync(join(place.folder, 'plan.json')), textIn('plan.txt')]).toEqual([
      true,
      expect.stringContaining('power/sleep'),
    ]);
    expect(await runJob('gitlab', 'apply')).toEqual([0, 0]);
    expect(await runJob('gitlab', 'drift')).toEqual([0]);
  });

  it('rolls out a change to one Mac first', async () => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-2']);
    expect(await runJob('gitlab', 'rollout')).toEqual([0, 0]);
    expect(await runJob('gitlab', 'drift')).toEqual([0]);
  });
});
