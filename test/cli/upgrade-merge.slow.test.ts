import { beforeAll, expect, it } from 'vitest';
import { disturbanceOf } from '../scenarios/converge-effects.ts';
import { fileText } from '../scenarios/converge-file.ts';
import { type GithubRepository, githubRepository } from './github-runner.ts';
import { json, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { effectsSince } from './simulated-effects.ts';
import { twoPairs } from './two-pairs.ts';

const textFor = (version: string): string => fileText(twoPairs(version, { driver: 'softwareupdate' }));

// The tests continue on one rack in this order, so they do not run alone.
const { place, run } = pairPlace(twoPairs('26.5', { driver: 'softwareupdate' }));
let github: GithubRepository;
let number = 0;
let mergedAtMs = 0;

const ana = { login: 'ana', type: 'User' } as const;
const reader = { login: 'tri', type: 'User' } as const;
const codes = (rans: readonly Ran[]): readonly (number | null)[] => rans.map(({ code }) => code);
const said = (rans: readonly Ran[]): string =>
  rans
    .map(({ stdout, stderr }) => `${stdout}${stderr}`)
    .join('')
    .replace(/\s+/g, ' ');

/** What the Macs recorded since the merge: on each Mac, in order, what stopped or started something there. */
const recorded = async () =>
  (await effectsSince(mergedAtMs, place)).flatMap((one) => {
    const found = disturbanceOf(one);
    return found === undefined || found.kind === 'kill' || found.kind === 'delete' ? [] : found;
  });
const macsOf = { chat: ['studio-1', 'studio-4'], code: ['studio-2', 'studio-3'] };
const macosOf = async (): Promise<string> => {
  const { nodes } = json(await run('facts', '--fact', 'macos-version', '--sim', '--json')) as {
    readonly nodes: Readonly<Record<string, unknown>>;
  };
  return ['studio-1', 'studio-2', 'studio-3', 'studio-4']
    .map((name) => /"version":"([\d.]+)"/.exec(JSON.stringify(nodes[name]))?.[1])
    .join(' ');
};
const label = (word: string): string => {
  const [comment] = github.read().comments;
  return `${word}-${/Digest of this plan: `(\w+)`/.exec(comment?.body ?? '')?.[1]}`;
};

beforeAll(async () => {
  expect((await run('apply', '--sim', '--yes')).code).toBe(0);
  github = await githubRepository(place, textFor('26.5'));
});

it('the pull request says what the update of macOS stops, and who allows it', async () => {
  number = github.open({ 'cluster.yaml': textFor('26.7') });
  const planned = await github.plan(number);
  expect(codes(planned), said(planned)).toEqual([0, 0, 0, 0, 0]);
  const [comment] = github.read().comments;
  expect(comment?.body.split('\n')[2]).toMatch(
    /^\*\*Interrupts nothing\.\*\* \*\*Not included: the update to macOS `26\.7`\..* stops `chat`, then `code`, and restarts /,
  );
  expect(comment?.body).toContain(`someone with write access adds the label \`${label('upgrade')}\`.`);
});

it('a merge without consent to the update stops nothing', async () => {
  github.label(number, label('interrupt'), ana);
  github.label(number, label('upgrade'), reader);
  mergedAtMs = Date.now();
  github.merge(number, `Merge it\n\n${label('upgrade')}\n--allow interrupt,reboot`);
  const applied = await github.apply();
  expect(codes(applied), said(applied)).toEqual([0, 0, 0, 0]);
  const refused = await github.upgrade();
  expect(codes(refused), said(refused)).toEqual([0, 0, 5]);
  expect(said(refused)).toMatch(/no consent to an update of macOS.*interrupts chat, code; restarts.*reboot=\w{32}/);
  expect([await recorded(), await macosOf()]).toEqual([[], '26.5 26.5 26.5 26.5']);
});

it('a merge updates the canary, and leaves the other unit alone while a person has to switch RDMA on', async () => {
  expect((await run('sim', 'fault', 'update-resets', 'studio-4')).code).toBe(0);
  github.label(number, label('upgrade'), ana);
  const upgraded = await github.upgrade();
  expect(codes(upgraded), said(upgraded)).toEqual([0, 0, 3]);
  expect(said(upgraded)).toMatch(/studio-4.*rdma_ctl enable.*Not touched: studio-2 and studio-3\./);
  expect(await macosOf()).toBe('26.7 26.5 26.5 26.7');
  expect((await recorded()).filter(({ node }) => macsOf.code.includes(node))).toEqual([]);
});

it('the same job continues after that, and never stops both placements', async () => {
  expect((await run('sim', 'hands')).code).toBe(0);
  const upgraded = await github.upgrade();
  expect(codes(upgraded), said(upgraded)).toEqual([0, 0, 0]);
  // A placement is down between its first stop and its last start.
  const all = await recorded();
  const of = (name: 'chat' | 'code') => all.flatMap(({ node }, at) => (macsOf[name].includes(node) ? [at] : []));
  expect([all[Math.max(...of('chat'))], all[Math.max(...of('code'))]]).toMatchObject([
    { kind: 'start', placement: 'chat' },
    { kind: 'start', placement: 'code' },
  ]);
  expect(Math.max(...of('chat'))).toBeLessThan(Math.min(...of('code')));
  expect(all.filter(({ kind }) => kind === 'reboot').map(({ node }) => node)).toEqual(
    expect.arrayContaining([...macsOf.chat, ...macsOf.code]),
  );
});

it('leaves all Macs updated, both placements serving and an empty plan, and changes nothing when it runs again', async () => {
  place.write('cluster.yaml', textFor('26.7'));
  expect(await macosOf()).toBe('26.7 26.7 26.7 26.7');
  for (const name of ['chat', 'code']) expect((await run('ask', name, 'hello', '--sim')).code).toBe(0);
  const plan = await run('plan', '--sim', '--detailed-exitcode');
  expect([plan.code, plan.stderr]).toEqual([0, '']);
  const before = Date.now();
  expect(codes(await github.upgrade())).toEqual([0, 0, 0]);
  expect((await effectsSince(before, place)).filter(({ kind }) => kind !== 'kill')).toEqual([]);
});
