import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { UpgradeDocument } from '../../src/model/documents.generated.ts';
import { eventually } from '../rack/running.ts';
import { type FileValue, filePart, fileText } from '../scenarios/converge-file.ts';
import { codesOf, json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { listenTo } from './talking.ts';
import { twoPairs } from './two-pairs.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ');

const file = (version: string, driver = 'softwareupdate'): FileValue => twoPairs(version, { driver });

const { place } = pairPlace(file('26.5'));
const run = (...words: string[]): Promise<Ran> =>
  meshwright(place, words, { env: { MESHWRIGHT_TRUST: 'env=MESH_PW', MESH_PW: 'simulated' } });
const upgrade = (...words: string[]): Promise<Ran> => run('upgrade', 'macos', '--sim', '--json', ...words);
type LogLine = Readonly<Partial<Record<'event' | 'node' | 'step' | 'phase' | 'name' | 'time', string>>>;
const eventsIn = (log: string): readonly LogLine[] =>
  readFileSync(join(place.folder, log), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
const document = (ran: Ran) => json(ran) as UpgradeDocument;
const macosOf = (ran: Ran): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    document(ran).units.flatMap(({ nodes }) => Object.entries(nodes).map(([name, { macos }]) => [name, macos])),
  );

beforeAll(async () => {
  const ran = await run('apply', '--sim', '--yes');
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('nothing left to do')]);
  expect((await run('plan', '--sim', '--out', 'older.json')).code).toBe(0);
  place.write('cluster.yaml', fileText(file('26.7')));
});

describe('upgrade macos', () => {
  it('shows the units, and changes nothing with --check', async () => {
    const ran = await run('upgrade', 'macos', '--all', '--sim', '--check');
    expect([ran.code, ran.stderr]).toEqual([2, '']);
    expect(flat(ran.stdout)).toContain('studio-1,4: macOS 26.5 to macOS 26.7 (25G229). Stops chat.');
    expect(flat(ran.stdout)).toContain('studio-2,3: macOS 26.5 to macOS 26.7 (25G229). Stops code.');
  });

  it('refuses another version and a part of a unit before it contacts a Mac', async () => {
    const other = await upgrade('--all', '--to', '27.0');
    expect([other.code, codesOf(json(other))]).toEqual([64, ['cli/usage']]);
    expect(other.stdout).toContain('macos: { version: \\"27.0\\" }');
    const part = await upgrade('studio-1');
    expect([part.code, codesOf(json(part))]).toEqual([64, ['cli/usage']]);
  });

  it('refuses before the first download what is not offered, not possible or not reviewed', async () => {
    place.write('cluster.yaml', fileText(file('26.6.9')));
    const ran = await upgrade('--all', '--yes');
    expect([ran.code, codesOf(json(ran))]).toEqual([5, Array.from({ length: 4 }, () => 'upgrade/not-offered')]);
    const open = file('26.7');
    delete filePart(open, 'ssh')['password'];
    place.write('cluster.yaml', fileText(open));
    const silent = await upgrade('--all', '--yes');
    expect([silent.code, new Set(codesOf(json(silent)))]).toEqual([5, new Set(['upgrade/no-password'])]);
    place.write('cluster.yaml', fileText(file('26.7')));
    const reviewed = await upgrade('--all', '--yes', '--reviewed', 'older.json', '--allow', 'interrupt,reboot');
    expect([reviewed.code, codesOf(json(reviewed))]).toEqual([5, ['plan/not-reviewed']]);
  });

  it('leaves the other unit alone if a Mac of the canary restarts with its old macOS', async () => {
    expect((await run('sim', 'fault', 'update-fails', 'studio-4')).code).toBe(0);
    const ran = await upgrade('--all', '--yes', '--log', 'failed.ndjson');
    expect(schemaCheck('upgrade')(json(ran))).toEqual([]);
    expect([ran.code, codesOf(json(ran))]).toEqual([3, expect.arrayContaining(['upgrade/not-updated'])]);
    expect(macosOf(ran)).toMatchObject({ 'studio-1': 'macOS 26.7 (25G229)', 'studio-2': 'macOS 26.5' });
    expect((await run('ask', 'code', 'hello', '--sim')).code).toBe(0);
  });

  it('has downloaded on all Macs before it stops the first placement', () => {
    const steps = eventsIn('failed.ndjson').filter(({ event }) => event === 'step-ended');
    const downloads = steps.flatMap(({ step }, at) => (step?.endsWith('/macos/download') ? at : []));
    expect(downloads).toHaveLength(4);
    expect(Math.max(...downloads)).toBeLessThan(steps.findIndex(({ step }) => step?.includes('/placement/') === true));
  });

  it('finds an installation that a killed run has started, and nothing else restarts that Mac', async () => {
    expect((await run('sim', 'fault', 'update-stuck', 'studio-4')).code).toBe(0);
    const killed = listenTo(place, ['upgrade', 'macos', '--all', '--sim', '--yes']);
    await killed.until('macOS is installing the update');
    killed.child.kill('SIGKILL');
    await killed.end;
    const reboot = await run('reboot', 'studio-4', '--sim', '--yes', '--json', '--lease-wait', '60s');
    expect([reboot.code, reboot.stdout]).toEqual([3, expect.stringContaining('macos/updating')]);
    const found = await run('upgrade', 'macos', '--all', '--sim', '--check');
    expect(flat(found.stdout)).toContain('studio-4: macOS 26.5, is installing macOS Tahoe 26.7-25G229');
    // A person restarts the Mac, which then has the update.
    expect((await run('sim', 'fault', '--clear')).code).toBe(0);
    expect((await run('sim', 'fault', 'crash', 'studio-4')).code).toBe(0);
    expect(await eventually(async () => (await run('exec', 'studio-4', '--sim', '--', 'true')).code === 0)).toBe(true);
  });

  it('keeps the leases of the canary until its placement has served for a minute', async () => {
    expect((await run('sim', 'fault', 'update-resets', 'studio-2')).code).toBe(0);
    const slower = { ...place, env: { ...place.env, MESHWRIGHT_SIM_SCALE: '0.2' } };
    const first = listenTo(slower, ['upgrade', 'macos', '--all', '--sim', '--yes', '--log', 'log.ndjson']);
    await first.until('waiting for chat to keep serving');
    const other = await run('stop', 'chat', '--sim', '--yes', '--json');
    const refusedAt = new Date().toISOString();
    expect(other.code, other.stdout).toBe(75);
    // Only a person can turn RDMA on again.
    expect((await first.end).code).toBe(3);
    const releases = eventsIn('log.ndjson').filter(({ event, phase }) => event === 'lease' && phase === 'released');
    for (const node of ['studio-1', 'studio-4'])
      expect(releases.filter((one) => one.node === node && (one.time ?? '') > refusedAt)).toHaveLength(1);
  });

  it('updates the rest, puts right what the update reset, and leaves an empty plan', async () => {
    const steps = readFileSync(join(place.folder, 'log.ndjson'), 'utf8').match(/"step":"studio-[1-4]\/[^"]+"/g) ?? [];
    // The canary serves before the other unit stops.
    const at = (part: string): number => steps.findIndex((one) => one.includes(part));
    expect(at('studio-2/placement/code/stop')).toBeGreaterThan(
      steps.findLastIndex((one) => one.includes('/placement/chat')),
    );
    expect((await run('sim', 'hands')).code).toBe(0);
    const ran = await upgrade('--all', '--yes');
    expect([ran.code, Object.values(macosOf(ran))]).toEqual([
      0,
      Array.from({ length: 4 }, () => 'macOS 26.7 (25G229)'),
    ]);
    const plan = await run('plan', '--sim', '--detailed-exitcode');
    expect([plan.code, plan.stderr]).toEqual([0, '']);
    expect((await run('ask', 'code', 'hello', '--sim')).code).toBe(0);
  });

  it('restarts nothing with a wrong password, and brings the placement back', async () => {
    place.write('cluster.yaml', fileText(file('27.0')));
    const words = ['studio-1', 'studio-4', '--yes', '--trust', 'env=MESH_PW'];
    const ran = await meshwright(place, ['upgrade', 'macos', '--sim', '--json', ...words], {
      env: { MESH_PW: 'wrong-one' },
    });
    expect(new Set(codesOf(json(ran)))).toEqual(new Set(['upgrade/password-refused']));
    expect([ran.code, ran.stdout.includes('wrong-one')]).toEqual([expect.any(Number), false]);
    expect(macosOf(ran)).toEqual({ 'studio-1': 'macOS 26.7', 'studio-4': 'macOS 26.7' });
    expect((await run('ask', 'chat', 'hello', '--sim')).code).toBe(0);
  });

  it('stops only one unit for a person, and continues when its Macs are updated', async () => {
    place.write('cluster.yaml', fileText(file('27.0', 'manual')));
    const listed = await run('upgrade', 'macos', 'studio-1', 'studio-4', '--sim', '--yes');
    expect(listed.code).toBe(3);
    expect(flat(listed.stdout)).toContain(
      'install macOS 27.0 on studio-1 (now macOS 26.7) studio-4 (now macOS 26.7) On each of these Macs: 1. Open the Apple menu > System Settings > General > Software Update',
    );
    expect(flat(listed.stdout)).toContain('meshwright sim hands update studio-1 studio-4 27.0 does this.');
    expect((await run('ask', 'code', 'hello', '--sim')).code).toBe(0);
    expect((await run('sim', 'hands', 'update', 'studio-1', 'studio-4', '27.0')).code).toBe(0);
    const ran = await upgrade('studio-1', 'studio-4', '--yes');
    expect([ran.code, macosOf(ran)['studio-1']]).toEqual([0, 'macOS 27.0 (26A428)']);
    expect((await run('ask', 'chat', 'hello', '--sim')).code).toBe(0);
  });
});
