import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { ciSteps } from '../ci-examples.ts';
import { endPlace } from './fleet.ts';
import { gitlabDouble } from './gitlab-double.ts';
import { meshwright } from './meshwright.ts';
import { makePlace, type Place } from './place.ts';
import { install, program, shell } from './shell.ts';

let place: Place;

beforeAll(async () => {
  place = makePlace();
  await prepareDemo(place.folder);
  for (const name of ['rollout.yaml', 'gitlab.mjs'])
    copyFileSync(fileURLToPath(new URL(`../../examples/ci/${name}`, import.meta.url)), place.write(name, ''));
  install(place, 'node', `exec "${process.execPath}" "$@"`);
  // The same commands on the simulated rack; only `validate` reaches no node.
  install(place, 'meshwright', `[ "$1" = validate ] || set -- "$@" --sim\n${program}`);
  install(place, 'git', 'echo "git $*" >> git.log');
  expect((await meshwright(place, ['sim', 'up'])).code).toBe(0);
});
afterAll(() => endPlace(place));

/** Runs the steps of a job as its CI does, and returns their exit codes. */
async function runJob(
  ci: keyof typeof ciSteps,
  job: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<readonly (number | null)[]> {
  const env = { CI: 'true', MESHWRIGHT_FILE: 'cluster.yaml', CI_PIPELINE_SOURCE: 'push', ...variables };
  const scripts = ciSteps[ci].filter((step) => step.job === job).map(({ script }) => script);
  expect(scripts).not.toEqual([]);
  const codes: (number | null)[] = [];
  for (const script of scripts) codes.push((await shell(place, script, { env })).code);
  return codes;
}

const textIn = (name: string): string => readFileSync(join(place.folder, name), 'utf8');

describe('examples/ci/gitlab.yml on a simulated rack', () => {
  it('makes a plan, applies what was reviewed, and then finds no drift', async () => {
    expect(await runJob('gitlab', 'plan')).toEqual([0, 0, 0, 0, 0]);
    expect([existsSync(join(place.folder, 'plan.json')), textIn('plan.md')]).toEqual([
      true,
      expect.stringMatching(/^### Plan for .*\n\n\*\*Interrupts nothing[\s\S]*placement\/chat/),
    ]);
    expect(await runJob('gitlab', 'apply')).toEqual([0, 0]);
    expect(await runJob('gitlab', 'upgrade')).toEqual([0]);
    expect(await runJob('gitlab', 'drift')).toEqual([0]);
  });

  it('comments on the merge request, and replaces only its own comment after the next push', async () => {
    const foreign = (id: number) => ({ id, author: { id: 8 }, body: textIn('plan.md') });
    const { env, notes, requests } = await gitlabDouble([foreign(1), foreign(2), foreign(3)]);
    expect(await runJob('gitlab', 'plan', env)).toEqual([0, 0, 0, 0, 0]);
    expect(notes[3]?.body).toBe(textIn('plan.md').trimEnd());
    expect(notes[3]?.body).toMatch(/^### Plan for [\s\S]*<!-- meshwright: .*-->$/);
    const before = textIn('cluster.yaml');
    place.write('cluster.yaml', before.replace(/context: \S+/, 'context: 2k'));
    expect(await runJob('gitlab', 'plan', env)).toEqual([0, 0, 0, 0, 0]);
    place.write('cluster.yaml', before);
    expect(notes.map(({ body }) => body.includes('**Interrupts `chat`'))).toEqual([false, false, false, true]);
    expect(notes[3]?.body).toContain('`apply` after the merge allows the interruption.\n\n<!-- meshwright');
    expect(requests.filter((one) => !one.startsWith('GET'))).toEqual([
      'POST /api/v4/projects/7/merge_requests/3/notes',
      'PUT /api/v4/projects/7/merge_requests/3/notes/903',
    ]);
  });

  it('makes a plan without the token, and fails with a wrong one', async () => {
    const { env, notes, requests } = await gitlabDouble([]);
    expect(await runJob('gitlab', 'plan', { ...env, PLAN_TOKEN: '' })).toEqual([0, 0, 0, 0, 0]);
    expect(requests).toEqual([]);
    expect(await runJob('gitlab', 'plan', { ...env, PLAN_TOKEN: 'other' })).toEqual([0, 0, 0, 0, 1]);
    expect([requests, notes]).toEqual([['GET /api/v4/user'], []]);
  });

  it('fails one pipeline for the same drift, and another one if it returns', async () => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-1']);
    expect([await runJob('gitlab', 'drift'), await runJob('gitlab', 'drift')]).toEqual([[2], [0]]);
    await meshwright(place, ['sim', 'fault', '--clear', 'power-wrong', 'studio-1']);
    expect(await runJob('gitlab', 'drift')).toEqual([0]);
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-1']);
    expect(await runJob('gitlab', 'drift')).toEqual([2]);
  });

  it('refuses the plan if the rack has changed since it was made', async () => {
    expect((await runJob('gitlab', 'plan')).at(-1)).toBe(0);
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-3']);
    expect((await runJob('gitlab', 'apply'))[1]).toBe(5);
    await meshwright(place, ['sim', 'fault', '--clear']);
  });

  it('updates macOS after the merge with the consent of the person who started the job `apply`', async () => {
    const file = textIn('cluster.yaml')
      .replace('version: "26.5"', 'version: "26.7"')
      .replace('driver: manual', 'driver: softwareupdate')
      .replace(/^ssh:$/m, 'ssh:\n  password: { env: MESH_PW }');
    place.write('cluster.yaml', file);
    const { env: request, notes } = await gitlabDouble([]);
    const env = { ...request, MESH_PW: 'simulated', MESHWRIGHT_TRUST: 'env=MESH_PW' };
    expect(await runJob('gitlab', 'plan', env)).toEqual([0, 0, 0, 0, 0]);
    expect(notes[0]?.body).toContain('`apply` after the merge allows the update of macOS that follows.\n\n');
    expect(await runJob('gitlab', 'apply', env)).toEqual([0, 0]);
    const seen = async () =>
      (await meshwright(place, ['facts', '--fact', 'macos-version', '--sim', '--json'], { env })).stdout;
    expect((await seen()).match(/"26\.5"/g)).toHaveLength(4);
    expect(await runJob('gitlab', 'upgrade', env)).toEqual([0]);
    expect((await seen()).match(/"26\.7"/g)).toHaveLength(4);
    expect((await meshwright(place, ['ask', 'chat', 'hello', '--sim'], { env })).code).toBe(0);
  });
});

describe('the rollout of both examples', () => {
  it.each(['github', 'gitlab'] as const)('changes one Mac first: %s', async (ci) => {
    await meshwright(place, ['sim', 'fault', 'power-wrong', 'studio-2']);
    expect(await runJob(ci, 'rollout')).toEqual([0, 0]);
    expect((await meshwright(place, ['drift', '--sim'])).code).toBe(0);
  });
});
