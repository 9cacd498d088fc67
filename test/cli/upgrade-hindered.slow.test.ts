import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { disturbanceOf } from '../scenarios/converge-effects.ts';
import { fileText, first, second } from '../scenarios/converge-file.ts';
import { eventually } from '../until.ts';
import { serve } from './follow-doctor.ts';
import type { Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { askFleet, effectsSince } from './simulated-effects.ts';
import { listenTo } from './talking.ts';
import { twoUnits } from './two-units.ts';

const { place, run } = pairPlace(twoUnits());

/** An archive that does not fit on a full disk. */
function useArchive(name: string): void {
  const files = [
    { path: 'bin/rank', mode: 0o755, content: Buffer.from(`${doubleText('ranks/rank.pl')}# ${name}\n`) },
    { path: 'data', mode: 0o644, content: randomBytes(300_000) },
  ];
  writeFileSync(join(place.folder, `dist/${name}.tar.gz`), tarGz(files));
  place.write('cluster.yaml', fileText(twoUnits(name)));
}

const upgrade = ['upgrade', 'runtime', 'reference', '--sim', '--yes'];

/** The report after the events. */
const reportOf = ({ stdout }: Ran): ReportDocument =>
  JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as ReportDocument;

beforeAll(async () => {
  expect(await serve(run)).toBe(0);
});

describe('upgrade runtime', () => {
  it('stops nothing if a disk fills up while it installs, and can be repeated', async () => {
    useArchive('big');
    const startedAtMs = Date.now();
    const upgrading = listenTo(place, [...upgrade, '--events']);
    await upgrading.until(`"step":"${second}/runtime/reference/installed/`);
    await askFleet(place, { ask: 'fault-set', words: ['disk-full', second] });
    const { exit, steps, diagnostics } = reportOf(await upgrading.end);
    expect([exit, diagnostics.map(({ code }) => code)]).toEqual([1, expect.arrayContaining(['step/disk-full'])]);
    // The other Mac has the new version beside the old one; both serve with the old one.
    const published = steps.filter(({ id, outcome }) => id.endsWith('/publish') && outcome === 'changed');
    expect(published.map(({ node }) => node)).toEqual([first]);
    const effects = (await effectsSince(startedAtMs, place)).map((effect) => disturbanceOf(effect)?.kind);
    expect(effects.filter((kind) => kind === 'stop' || kind === 'reboot')).toEqual([]);
    await run('sim', 'fault', '--clear');
    const again = await run(...upgrade);
    expect(again.code, again.stdout + again.stderr).toBe(0);
    expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(0);
    expect((await run('status', '--sim')).code).toBe(0);
  });

  it('keeps the canary on the new version if the Mac of the next unit is lost meanwhile, and can be continued', async () => {
    useArchive('bigger');
    const upgrading = listenTo(place, [...upgrade, '--events']);
    await upgrading.until(`"step":"${first}/placement/left/kick`);
    await askFleet(place, { ask: 'fault-set', words: ['power-cut', second] });
    const { exit, diagnostics } = reportOf(await upgrading.end);
    const codes = diagnostics.map(({ code }) => code);
    expect([exit, codes]).toEqual([4, expect.not.arrayContaining(['upgrade/rolled-back'])]);
    expect(JSON.stringify(diagnostics)).toContain(second);
    await run('sim', 'fault', '--clear');
    await run('sim', 'power-on', second);
    expect(await eventually(async () => (await run('exec', second, '--sim', '--', 'true')).code === 0)).toBe(true);
    const startedAtMs = Date.now();
    const again = await run(...upgrade);
    expect(again.code, again.stdout + again.stderr).toBe(0);
    const stops = (await effectsSince(startedAtMs, place)).flatMap((effect) => disturbanceOf(effect) ?? []);
    expect(stops.filter(({ node, kind }) => node === first && kind === 'stop')).toEqual([]);
    expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(0);
  });
});
