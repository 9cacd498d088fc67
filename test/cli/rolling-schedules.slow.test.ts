import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { drawsBy } from '../property/mutations.ts';
import { sampleSeed } from '../sample.ts';
import { disturbanceOf } from '../scenarios/converge-effects.ts';
import { type FileValue, filePart, pairFile } from '../scenarios/converge-file.ts';
import { endFaults, serve } from './follow-doctor.ts';
import { json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { effectsSince } from './simulated-effects.ts';

/** Four units: a placement on each pair of Macs, with a cable between them. */
const units = [0, 1, 2, 3].map((at) => ({
  name: `p${at}`,
  macs: [`studio-${2 * at + 1}`, `studio-${2 * at + 2}`] as const,
}));

const file: FileValue = pairFile((value) => {
  const { chat } = filePart(value, 'placements');
  const macs = units.flatMap((unit) => unit.macs);
  value['nodes'] = Object.fromEntries(
    macs.map((name) => [name, { host: `${name}.lan`, hardware: { model: 'Mac15,14', memory: '256GB' } }]),
  );
  Object.assign(filePart(value, 'thunderbolt'), {
    rdma: 'auto',
    links: units.map(({ macs: [a, b] }) => `${a}:2 <-> ${b}:2`),
  });
  value['placements'] = Object.fromEntries(
    units.map(({ name, macs: nodes }) => [name, { ...(chat as object), nodes }]),
  );
});

const { place, run } = pairPlace(file);

/** What is wrong with a placement: nothing, a start that fails, a rank that hangs, or a Mac without power. */
const troubles = ['none', 'restart-storm', 'rank-stopped', 'power-cut'] as const;

/** At least two of the units, and a trouble with one of these. */
function scheduleOf(seed: number) {
  const draw = drawsBy(seed);
  const left = [...units];
  while (left.length > 2 && draw(2) === 0) left.splice(draw(left.length), 1);
  const victim = left[draw(left.length)] ?? units[0];
  return { chosen: left, victim, trouble: troubles[draw(troubles.length)] ?? 'none' };
}

const agreed = ['--sim', '--yes', '--allow', 'interrupt', '--json'];

/** New ones with each commit. */
const schedules = Array.from({ length: 5 }, (_, at) => (sampleSeed + at) >>> 0);

describe('run rolling-restart on eight Macs with four placements', () => {
  beforeAll(async () => {
    expect(await serve(run)).toBe(0);
  });

  it.each(schedules)(
    'restarts one placement after another, and stops at the first that fails: seed %i',
    async (seed) => {
      const { chosen, victim, trouble } = scheduleOf(seed);
      const names = chosen.map(({ name }) => name);
      if (trouble !== 'none') expect((await run('sim', 'fault', trouble, victim?.macs[0] ?? '')).code).toBe(0);
      const startedAtMs = Date.now();
      const words = ['run', 'rolling-restart', ...chosen.flatMap(({ macs }) => macs), ...agreed];
      const ran = await meshwright(place, words, { longestMs: 400_000 });
      const report = json(ran) as ReportDocument;
      const effects = (await effectsSince(startedAtMs, place)).flatMap((one) => disturbanceOf(one) ?? []);
      const touched = effects.map(({ placement }) => placement).filter((name, at, all) => name !== all[at - 1]);
      const about = `${names.join(', ')}: ${trouble} at ${victim?.name}; ${touched.join(', ')}; ${ran.stdout.slice(0, 2_000)}`;
      // The Macs recorded what was done to them: whole placements, one after another, in the order of the file.
      if (trouble === 'none') expect([report.exit, touched], about).toEqual([0, names]);
      else if (trouble === 'restart-storm') {
        const until = names.slice(0, names.indexOf(victim?.name ?? '') + 1);
        expect([report.exit === 0, touched], about).toEqual([false, until]);
      } else expect([report.exit, touched], about).toEqual([5, []]);
      await endFaults(run);
    },
  );
});
