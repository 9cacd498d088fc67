import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type FileValue, filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { type GithubRepository, githubRepository } from './github-runner.ts';
import type { Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const ana = { login: 'ana', type: 'User' } as const;
const reader = { login: 'tri', type: 'User' } as const;
const bot = { login: 'github-actions[bot]', type: 'Bot' } as const;

const file = pairFile();
const { place, run } = pairPlace(file);
let github: GithubRepository;

beforeAll(async () => {
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  github = await githubRepository(place, fileText(file));
});

/** The file with one more change; the changes of earlier pull requests remain. */
const edited = (change: (value: FileValue) => void): Readonly<Record<string, string>> => {
  change(file);
  return { 'cluster.yaml': fileText(file) };
};
/** The same, for a change that is not merged. */
const tried = (change: (value: FileValue) => void): Readonly<Record<string, string>> => {
  const value = structuredClone(file);
  change(value);
  return { 'cluster.yaml': fileText(value) };
};
const chat = (keys: FileValue) => (value: FileValue) => void Object.assign(filePart(value, 'placements', 'chat'), keys);
const power = (keys: FileValue) => (value: FileValue) => void Object.assign(filePart(value, 'power'), keys);
const codes = (rans: readonly Ran[]): readonly (number | null)[] => rans.map(({ code }) => code);
const said = (rans: readonly Ran[]): string => rans.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');

const digestIn = (number: number): string => {
  const comment = github.read().comments.find(({ issue }) => issue === number)?.body ?? '';
  return /`interrupt-(\w+)`/.exec(comment)?.[1] ?? 'none';
};

/** The last step commits the lock, even after a refusal. */
const refused = [0, 0, 5, 0];
const done = [0, 0, 0, 0];

describe('a change of the rack through a pull request', () => {
  // The tests continue on one rack in this order, so they do not run alone.
  let number = 0;

  it('posts the plan, which begins with the interruption', async () => {
    number = github.open(edited(chat({ context: '16k' })));
    const planned = await github.plan(number);
    expect(codes(planned), said(planned)).toEqual([0, 0, 0, 0, 0]);
    const [comment] = github.read().comments;
    expect(comment?.body).toMatch(/^### Plan for `studio-rack` \(simulated\)\n\n\*\*Interrupts `chat` for up to \d+/);
    expect(digestIn(number)).toMatch(/^[0-9a-f]{32}$/);
  });

  it('replaces the comment after the next push', async () => {
    await github.plan(number);
    expect(github.read().comments).toHaveLength(1);
  });

  it('changes nothing on merge before a person agrees to the interruption, and says who must', async () => {
    const label = `interrupt-${digestIn(number)}`;
    github.label(number, label, reader);
    github.merge(number, `Merge it\n\n${label}\n--allow interrupt`);
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(refused);
    expect(said(applied)).toMatch(
      /someone with write access adds the label[\s\S]*plan\/not-allowed[\s\S]*interrupt=\w{32}/,
    );
  });

  it.each([
    ['set by a workflow', () => github.label(number, `interrupt-${digestIn(number)}`, bot)],
    ['that names another plan', () => github.label(number, `interrupt-${'0'.repeat(32)}`, ana)],
    ['without a digest', () => github.label(number, 'interrupt', ana)],
  ])('takes no consent from a label %s', async (_, label) => {
    label();
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(refused);
  });

  it('takes no consent from a label that is older than the plan', async () => {
    github.label(number, `interrupt-${digestIn(number)}`, ana);
    const { artifacts } = github.read();
    github.change(
      (site) => void site.artifacts.push({ ...artifacts.at(-1), created_at: '2027-01-01T00:00:00Z' } as never),
    );
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(refused);
    github.change((site) => void site.artifacts.pop());
  });

  it('applies the reviewed plan when a person with write access has agreed to it', async () => {
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(done);
    expect((await run('drift', '--sim')).code).toBe(2);
    place.write('cluster.yaml', fileText(file));
    expect((await run('drift', '--sim')).code).toBe(0);
  });

  it('takes consent from the approval of the environment', async () => {
    number = github.open(edited(chat({ context: '4k' })));
    await github.plan(number);
    github.merge(number);
    github.approveNext(bot);
    expect(codes(await github.apply())).toEqual(refused);
    github.approveNext(reader);
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(done);
  });

  it('runs fewer steps than reviewed, and names the others', async () => {
    number = github.open(edited(power({ sleep: 30 })));
    await github.plan(number);
    place.write('cluster.yaml', fileText(file));
    const other = await run('apply', 'studio-1', '--sim', '--yes');
    expect(other.code, `${other.stdout}${other.stderr}`).toBe(0);
    github.merge(number);
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(done);
    expect(said(applied)).toMatch(/No longer needed \(\d+ lines of the reviewed plan[\s\S]*step studio-1\/power/);
  });

  it('runs nothing if a step is new, and names it', async () => {
    number = github.open(edited(power({ sleep: 40 })));
    await github.plan(number);
    await run('sim', 'fault', 'bridge-active', 'studio-4');
    github.merge(number);
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(refused);
    expect(said(applied)).toMatch(/plan\/not-reviewed[\s\S]*new: [\s\S]*studio-4/);
    await run('sim', 'fault', '--clear', 'bridge-active', 'studio-4');
    expect(codes(await github.apply())).toEqual(done);
  });

  it('runs nothing if the merged file is not the reviewed one', async () => {
    number = github.open(edited(power({ sleep: 50 })));
    await github.plan(number);
    const { artifacts } = github.read();
    const other = github.open(edited(power({ sleep: 60 })));
    await github.plan(other);
    github.merge(other);
    const { name } = github.read().artifacts.at(-1) ?? { name: '' };
    github.change((site) => void Object.assign(site.artifacts.at(-1) ?? {}, artifacts.at(-1), { name }));
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual(refused);
    expect(said(applied)).toContain('the cluster file or its lock differs from the reviewed one');
  });

  it('reports drift once, again only if it changes, and closes the issue when it is gone', async () => {
    const number = github.open(edited(power({ sleep: 65 })));
    await github.plan(number);
    github.merge(number);
    expect(codes(await github.apply())).toEqual(done);
    const told = async (): Promise<readonly string[]> => {
      github.change((site) => void site.told.splice(0));
      expect(codes(await github.drift())).toEqual([0, 0]);
      return github.read().told;
    };
    expect(await told()).toEqual([]);
    await run('sim', 'fault', 'power-wrong', 'studio-1');
    expect([await told(), await told()]).toEqual([['create'], []]);
    await run('sim', 'fault', 'power-wrong', 'studio-4');
    expect([await told(), await told()]).toEqual([['edit', 'comment'], []]);
    for (const node of ['studio-1', 'studio-4']) await run('sim', 'fault', '--clear', 'power-wrong', node);
    expect([await told(), await told()]).toEqual([['close'], []]);
  });
});

describe('a hostile pull request', () => {
  it('runs no program that its file names', async () => {
    const proof = join(place.root, 'ran');
    const endpoint = { port: 8_080, listen: 'lan', apiKey: { command: ['touch', proof] } };
    // Simulated Macs get simulated keys, so this plan is for real ones. It is refused before it contacts any.
    const planned = await github.plan(github.open(tried(chat({ endpoint }))), { REAL_MACS: '1' });
    expect([codes(planned).at(-1), existsSync(proof)], said(planned)).toEqual([5, false]);
    expect(said(planned)).toContain('--trust');
  });

  it('cannot change the workflow or the Action by which it is planned', async () => {
    const evil = 'touch "$RUNNER_TEMP/../ran"';
    const number = github.open({
      ...tried(power({ sleep: 5 })),
      '.github/workflows/meshwright.yml': `on: pull_request\njobs: { plan: { steps: [{ run: '${evil}' }] } }\n`,
      '.github/actions/meshwright/action.yml': `runs: { using: composite, steps: [{ run: '${evil}' }] }\n`,
      '.github/actions/meshwright/github.mjs': "import fs from 'node:fs';\nfs.writeFileSync('ran', '');\n",
    });
    const planned = await github.plan(number);
    expect(codes(planned), said(planned)).toEqual([0, 0, 0, 0, 0]);
    expect(existsSync(join(place.root, 'ran'))).toBe(false);
  });

  it('cannot pass its own artifact off as the reviewed plan', async () => {
    const number = github.open(edited(power({ sleep: 70 })));
    github.merge(number);
    const { sha } = github.read().pulls.at(-1)?.head ?? { sha: '' };
    const lie = join(place.root, 'lie.json');
    writeFileSync(lie, '{"formatVersion":1,"steps":[]}');
    github.change((site) => {
      for (const id of Object.keys(site.runs))
        site.runs[id] = { event: 'pull_request', path: site.runs[id]?.path ?? '' };
    });
    github.keep(`plan-cluster.yaml-${sha}`, lie);
    const applied = await github.apply();
    expect(codes(applied), said(applied)).toEqual([0, 5, 0]);
    expect(said(applied)).toContain('There is no plan');
  });
});
