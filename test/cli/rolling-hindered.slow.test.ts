import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { drawsBy } from '../property/mutations.ts';
import { sampleOf, sampleSeed } from '../sample.ts';
import { disturbanceOf } from '../scenarios/converge-effects.ts';
import { type FileValue, filePart, first, pairFile, second } from '../scenarios/converge-file.ts';
import { eventually } from '../until.ts';
import { endFaults, serve } from './follow-doctor.ts';
import { ended, json, meshwright, start } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { askFleet, effectsSince } from './simulated-effects.ts';

/** Two units: chat on a pair of Macs, and code on a third one. */
const third = 'studio-2';
const membersOf: Readonly<Record<string, readonly string[]>> = { chat: [first, second], code: [third] };
const file: FileValue = pairFile((value) => {
  filePart(value, 'nodes')[third] = { ...filePart(value, 'nodes', first), host: `${third}.lan` };
  const { sharding: _, ...chat } = filePart(value, 'placements', 'chat');
  filePart(value, 'placements')['code'] = { ...chat, nodes: [third], transport: 'tcp' };
});

/** In the order of a run. They are about the first unit; `next` begins when the second one is observed by itself. */
const phases = ['preview', 'stop', 'reboot', 'wait', 'start', 'token', 'bake', 'next'] as const;
type Phase = (typeof phases)[number];

/** Every step of a run, by the last part of its name; `same` if it begins no phase. */
const phaseOfStep: Readonly<Record<string, Phase | 'same'>> = {
  'check-account': 'same',
  stop: 'stop',
  stopped: 'stop',
  reboot: 'reboot',
  'put-service': 'start',
  bootstrap: 'start',
  ready: 'start',
  kick: 'start',
  'joined-1': 'start',
  joined: 'token',
  ask: 'token',
  rescue: 'same',
};
const lastPart = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

interface Line {
  readonly event: string;
  readonly node?: string;
  readonly step?: string;
}

/** The phase of each line of a run's log. @throws Error for a step that the table lacks */
function phasesIn(lines: readonly Line[]): readonly Phase[] {
  let phase: Phase = 'preview';
  return lines.map(({ event, node, step = '' }) => {
    if (phase !== 'preview' && node === third) phase = 'next';
    if (phase === 'next') return phase;
    if (event === 'plan-ended') phase = phase === 'token' ? 'bake' : 'wait';
    if (event !== 'step-started') return phase;
    const own = phaseOfStep[lastPart(step)];
    if (own === undefined) throw new Error(`${step} belongs to no phase`);
    if (own !== 'same') phase = own;
    return phase;
  });
}

const hindrances = ['a full disk', 'a lost Mac of the unit at work', 'a lost Mac of the other unit', 'a kill'] as const;

const playbooks = ['rolling-restart', 'rolling-reboot'] as const;

/** Both playbooks have the same phases but one, so the seed draws a playbook for each case. */
const cases = hindrances.flatMap((hindrance, row) =>
  phases.map((phase, column) => {
    const seed = (sampleSeed + phases.length * row + column) >>> 0;
    const playbook = phase === 'reboot' ? 'rolling-reboot' : (playbooks[drawsBy(seed)(2)] ?? 'rolling-reboot');
    return { hindrance, phase, playbook, seed };
  }),
);

const chosen = sampleOf(cases, { few: 1, oneIn: 17 });
/** Only racks with a case here are booted. */
const racks = hindrances.flatMap((hindrance) => {
  const own = chosen.filter((one) => one.hindrance === hindrance);
  return own.length === 0 ? [] : [[hindrance, own] as const];
});

describe.concurrent.each(racks)('a rolling playbook, hindered by %s', (hindrance, own) => {
  const { place, run } = pairPlace(file);
  beforeAll(async () => {
    expect(await serve(run)).toBe(0);
  });

  const log = join(place.folder, 'run.ndjson');
  const lines = (): readonly Line[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      : [];

  /** Waits for this line of the phase, or for its end. */
  const reach = (phase: Phase, line: number, isOver: () => boolean): Promise<boolean> =>
    eventually(() => {
      const seen = phasesIn(lines()).map((one) => phases.indexOf(one) - phases.indexOf(phase));
      return seen.filter((one) => one === 0).length > line || seen.some((one) => one > 0) || isOver();
    });

  const disturbancesSince = async (atMs: number) =>
    (await effectsSince(atMs, place)).flatMap((effect) => disturbanceOf(effect) ?? []);

  async function hinder(victim: string, kill: () => void): Promise<void> {
    if (hindrance === 'a kill') return kill();
    const fault = hindrance === 'a full disk' ? 'disk-full' : 'power-cut';
    await askFleet(place, { ask: 'fault-set', words: [fault, victim] });
  }

  async function silentPlacements(): Promise<readonly string[]> {
    const { placements } = json(await run('status', '--sim', '--json')) as {
      readonly placements: Readonly<Record<string, { readonly state: string }>>;
    };
    return Object.keys(placements).filter((name) => placements[name]?.state !== 'serving');
  }

  /** What the Macs did is in the report, what the report calls changed was done, and what is down is an error. */
  async function expectTrue({ exit, steps, diagnostics }: ReportDocument, done: readonly string[]): Promise<void> {
    const kinds: Readonly<Record<string, string>> = { stop: 'stop', rescue: 'stop', kick: 'start', reboot: 'reboot' };
    const named = steps.flatMap(({ id, node, outcome }) => {
      const kind = kinds[lastPart(id)];
      return kind === undefined ? [] : [{ act: `${node} ${kind}`, outcome }];
    });
    const begun = named.filter(({ outcome }) => outcome !== 'skipped' && outcome !== 'blocked');
    expect(begun.map(({ act }) => act)).toEqual(expect.arrayContaining([...done]));
    const changed = named.filter(({ outcome }) => outcome === 'changed');
    expect(done).toEqual(expect.arrayContaining(changed.map(({ act }) => act)));
    const errors = JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error'));
    const silent = await silentPlacements();
    expect(silent.filter((name) => ![name, ...(membersOf[name] ?? [])].some((one) => errors.includes(one)))).toEqual(
      [],
    );
    if (silent.length > 0 || hindrance.startsWith('a lost Mac')) expect(exit).not.toBe(0);
  }

  it.sequential.for(own)(
    'stops before the other unit, reports what is true, and can be finished: $playbook in its phase $phase',
    { timeout: 600_000 },
    async ({ phase, playbook, seed }, { onTestFailed }) => {
      onTestFailed(() => endFaults(run));
      const draw = drawsBy(seed);
      const words = ['run', playbook, '--all', '--sim', '--yes', '--allow', 'interrupt,reboot', '--json'];
      rmSync(log, { force: true });
      const startedAtMs = Date.now();
      const child = start(place, [...words, '--log', log, '--log-level', 'debug']);
      const end = ended(child, words, 400_000);
      await reach(phase, draw(8), () => child.exitCode !== null);
      const isSecond = (phase === 'next') !== (hindrance === 'a lost Mac of the other unit');
      const victims = isSecond ? [third] : [first, second];
      const hinderedAtMs = Date.now();
      await hinder(victims[draw(victims.length)] ?? first, () => child.kill('SIGKILL'));
      const ran = await end;
      const spared = phase === 'next' ? [first, second] : [third];
      const later = await disturbancesSince(hinderedAtMs);
      if (ran.code !== 0) expect(later.filter(({ node }) => spared.includes(node))).toEqual([]);
      const done = (await disturbancesSince(startedAtMs)).map(({ node, kind }) => `${node} ${kind}`);
      if (hindrance === 'a kill') expect(ran.signal).toBe('SIGKILL');
      else await expectTrue(json(ran) as ReportDocument, done);

      const silent = await silentPlacements();
      await run('sim', 'fault', '--clear');
      if (hindrance.startsWith('a lost Mac')) await run('sim', 'power-on', ...victims);
      const healedAtMs = Date.now();
      const again = hindrance === 'a kill' ? words : ['apply', '--sim', '--yes'];
      const healed = await meshwright(place, [...again, '--lease-wait', '60s'], { longestMs: 400_000 });
      expect(healed.code, healed.stderr).toBe(0);
      if (again !== words) {
        const touched = (await disturbancesSince(healedAtMs)).map(({ placement }) => placement ?? 'a Mac');
        expect(silent).toEqual(expect.arrayContaining(touched));
      }
      expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(0);
      expect(await eventually(async () => (await run('status', '--sim')).code === 0)).toBe(true);
    },
  );
});
