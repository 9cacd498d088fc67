import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchesOf, unitsOf } from '../../src/engine/playbooks/batches.ts';
import { expandTask, type PlayScope, tasksOf } from '../../src/engine/playbooks/expand.ts';
import type { BatchSize, Play, Task } from '../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { type NodeName, nodeName } from '../../src/model/node.ts';
import { placed } from '../rack/placements.ts';
import { desiredFleet, desiredNode } from '../rack/rack.ts';
import '../property-seed.ts';

const macs = Array.from({ length: 8 }, (_, at) => `studio-${at + 1}`);
const nodes = macs.map(nodeName);

const tasks: Readonly<Record<string, readonly Task[]>> = {
  reboot: [{ kind: 'reboot' }, { kind: 'start' }],
  restart: [{ kind: 'stop', isRestart: true }, { kind: 'start' }],
};

const size: fc.Arbitrary<BatchSize> = fc.oneof(
  fc.constant({ kind: 'unit' } as const),
  fc.record({ kind: fc.constant('count' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('percent' as const), percent: fc.integer({ min: 1, max: 100 }) }),
);

/** A rack of eight Macs with four placements, a play, the placement that breaks, and the length of each event. */
const schedule = fc.record({
  members: fc.array(fc.subarray(macs, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 4 }),
  serial: fc.array(size, { minLength: 1, maxLength: 3 }),
  isRespectful: fc.boolean(),
  kind: fc.constantFrom('reboot', 'restart'),
  breaks: fc.option(fc.integer({ min: 0, max: 3 })),
  lengths: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 40, maxLength: 40 }),
});

interface Instant {
  readonly batch: readonly NodeName[];
  readonly down: readonly string[];
  readonly off: readonly NodeName[];
}

/** Runs a play on a rack whose placements and Macs only change their states, and returns every instant. */
function roll(play: Play, desired: DesiredFleet, broken: string | undefined, lengths: readonly number[]) {
  const scope: PlayScope = { desired, targets: nodes };
  const down = new Set<string>();
  const off = new Set<NodeName>();
  const instants: Instant[] = [];
  const stops: string[] = [];
  let drawn = 0;
  /** Runs these events in parallel: each at its own time, in the order of the times. */
  const inParallel = (batch: readonly NodeName[], events: readonly (() => void)[]): void => {
    const timed = events.map((event) => ({ event, ms: lengths[drawn++ % lengths.length] ?? 1 }));
    for (const { event } of timed.toSorted((a, b) => a.ms - b.ms)) {
      event();
      instants.push({ batch, down: [...down], off: [...off] });
    }
  };
  const stop = (name: string): void => {
    if (!down.has(name)) stops.push(name);
    down.add(name);
  };
  for (const batch of batchesOf(play, nodes, desired)) {
    let hasFailed = false;
    for (const task of tasksOf(play)) {
      const work = expandTask(task, scope, batch);
      if (work.kind !== 'plan') throw new Error('every task is a plan');
      const { goal } = work;
      if (goal.kind === 'stop')
        inParallel(
          batch,
          goal.placements.map((name) => () => stop(name)),
        );
      else if (goal.kind === 'reboot') {
        const touched = desired.placements.filter((one) => one.nodes.some((node) => goal.nodes.includes(node)));
        inParallel(
          batch,
          touched.map(
            ({ name }) =>
              () =>
                stop(name),
          ),
        );
        inParallel(
          batch,
          goal.nodes.map((node) => () => void off.add(node)),
        );
        inParallel(
          batch,
          goal.nodes.map((node) => () => void off.delete(node)),
        );
      } else if (goal.kind === 'start') {
        const started = goal.placements.filter((name) => name !== broken);
        inParallel(
          batch,
          started.map((name) => () => void down.delete(name)),
        );
        hasFailed = goal.placements.some((name) => down.has(name));
      }
    }
    if (hasFailed) return { instants, stops, stoppedAt: batch };
  }
  return { instants, stops, stoppedAt: undefined };
}

describe('a roll over eight Macs with four placements', () => {
  it('breaks placements only by Macs of their own unit, each once, and stops at the first unit that fails', () => {
    fc.assert(
      fc.property(schedule, ({ members, serial, isRespectful, kind, breaks, lengths }) => {
        const placements = members.map((own, at) => placed(`p${at}`, own));
        const desired = desiredFleet({ nodes: macs.map((name) => desiredNode(name)), placements });
        const play: Play = {
          ...{ nodes: { kind: 'all' }, serial, maxFailures: 0, tasks: tasks[kind] ?? [] },
          ...(isRespectful ? { respect: 'placements' } : {}),
        };
        const broken = breaks === null ? undefined : `p${breaks}`;
        const units = unitsOf(nodes, desired);
        const unitOf = (name: string) => units.find((unit) => unit.placements.includes(name));
        const { instants, stops, stoppedAt } = roll(play, desired, broken, lengths);
        for (const { batch, down, off } of instants) {
          expect(off.every((node) => batch.includes(node))).toBe(true);
          expect(down.every((name) => unitOf(name)?.nodes.every((node) => batch.includes(node)))).toBe(true);
          if (isRespectful) expect(new Set(down.map(unitOf)).size).toBeLessThanOrEqual(1);
        }
        expect(stops.length).toBe(new Set(stops).size);
        if (broken === undefined) expect([stoppedAt, stops.toSorted()]).toEqual([undefined, ['p0', 'p1', 'p2', 'p3']]);
        else {
          expect(stoppedAt).toBeDefined();
          const last = batchesOf(play, nodes, desired).findIndex((batch) => batch[0] === stoppedAt?.[0]);
          const later = batchesOf(play, nodes, desired)
            .slice(last + 1)
            .flat();
          expect(instants.some(({ off }) => off.some((node) => later.includes(node)))).toBe(false);
          expect(stops.some((name) => unitOf(name)?.nodes.some((node) => later.includes(node)))).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });
});
