import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FactName, type FactValues, factsWithoutAnswer } from '../../src/engine/observe/facts.ts';
import { makePlan } from '../../src/engine/plan/make-plan.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { planJson } from '../../src/engine/plan/plan-json.ts';
import { seenProperties, seenValues } from '../../src/engine/plan/view.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { canonicalJson } from '../../src/model/digest.ts';
import { type Known, known, type UnknownReason } from '../../src/model/known.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Goal } from '../../src/rack/goal.ts';
import { meshFleet } from '../rack/placements.ts';
import { observedFleet, settledFacts } from '../rack/rack.ts';
import { runs } from '../runs.ts';

const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

/** Differences between a node and the file, by the facts that show them. */
const troubles: readonly ((name: string) => Partial<FactValues>)[] = [
  () => ({ power: { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: false } }),
  () => ({ 'wired-limit': { megabytes: 0 } }),
  () => ({ 'rdma-state': 'disabled', 'rdma-devices': [], 'rdma-ports': [] }),
  () => ({ sudo: 'needs-password' }),
  () => ({ 'macos-version': { version: '26.3', build: '25D125' } }),
  () => ({ 'bridge-preferences': [{ name: 'bridge0', interfaces: ['en2', 'en3'], auto: 'thunderbolt-bridge' }] }),
  (name) => ({
    'service-addresses': settledFacts(name)['service-addresses'].map((one) => ({ ...one, method: 'dhcp' as const })),
  }),
  (name) => ({ 'network-services': settledFacts(name)['network-services'].slice(0, 2) }),
  () => ({
    trees: [{ kind: 'runtime', name: 'reference', digest: '1111111111111111', isCurrent: true, state: 'changed' }],
  }),
  () => ({ 'disk-space': { totalBytes: 1e6, freeBytes: 10 } }),
  () => ({ identity: { serial: 'SAME', hardwareUuid: 'SAME' } }),
];

const unknowns = [
  'power',
  'network-services',
  'interfaces',
  'trees',
  'sudo',
  'rdma-state',
  'thunderbolt',
  'placements',
] as const;

interface RackCase {
  readonly troubles: Readonly<Record<string, readonly number[]>>;
  readonly unknown: Readonly<Record<string, Partial<Record<FactName, UnknownReason>>>>;
  readonly unreachable: readonly string[];
  readonly targets: readonly string[];
  readonly goal: Goal;
}

const perNode = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.record(Object.fromEntries(four.map((name) => [name, value])));

const goals = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Goal>({ kind: 'converge' }) },
  fc.constant<Goal>({ kind: 'stop', placements: ['kimi'] }),
  fc.constant<Goal>({ kind: 'start', placements: ['kimi'] }),
  fc.subarray(four, { minLength: 1 }).map((nodes): Goal => ({ kind: 'reboot', nodes: nodes.map(nodeName) })),
);

const racks: fc.Arbitrary<RackCase> = fc.record({
  troubles: perNode(
    fc.subarray(
      troubles.map((_, index) => index),
      { maxLength: 4 },
    ),
  ),
  unknown: perNode(
    fc
      .subarray([...unknowns], { maxLength: 2 })
      .map((names) => Object.fromEntries(names.map((one) => [one, 'timed-out' as const]))),
  ),
  unreachable: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(four, { maxLength: 2 })),
  targets: fc.oneof({ weight: 3, arbitrary: fc.constant(four) }, fc.subarray(four, { minLength: 1 })),
  goal: goals,
});

const fleet: DesiredFleet = meshFleet();

function request({ troubles: own, unknown, unreachable, targets, goal }: RackCase): Parameters<typeof makePlan>[0] {
  const values = four.map((name) => {
    const wrong = (own[name] ?? []).map((index) => troubles[index]?.(name));
    return [name, Object.assign({}, settledFacts(name), ...wrong)];
  });
  const observation = observedFleet({ values: Object.fromEntries(values), unknown, unreachable });
  return { goal, desired: fleet, observation, targets: targets.map(nodeName) };
}

/** The same value with reversed keys in every object, deeply frozen. */
function shuffled<T>(value: T): T {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const copy: unknown = Array.isArray(value)
    ? value.map((one) => shuffled(one))
    : Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, one]) => [key, shuffled(one)]),
      );
  return Object.freeze(copy) as T;
}

/** Descriptions of steps that are in the wrong order in a plan. */
function disorder({ steps }: Plan): readonly string[] {
  return steps.flatMap((step, index) => {
    const before = new Set(steps.slice(0, index).map(({ id }) => id));
    return step.needs.filter((id) => !before.has(id)).map((id) => `${step.id} comes before ${id}`);
  });
}

const mapEach = <V, W>(
  record: Readonly<Record<string, V>>,
  change: (value: V, key: FactName) => W,
): Record<string, W> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key as FactName)]));

const isUnreachable = (one: Known<unknown>): boolean => one.kind === 'unknown' && one.reason === 'unreachable';

const reader = { isSimulated: false };

describe('a plan for any rack', () => {
  it('is byte-identical for frozen arguments with reordered keys', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const one = request(rack);
        const other = shuffled(one);
        expect(canonicalJson(planJson(makePlan(other), reader))).toBe(canonicalJson(planJson(makePlan(one), reader)));
      }),
      { numRuns: runs(60) },
    );
  });

  it('gives a property the same value when only the facts it needs are observed', () => {
    fc.assert(
      fc.property(racks, fc.nat(), (rack, at) => {
        const { desired, observation } = request(rack);
        const all = [...seenProperties(desired, observation)];
        const [key, value] = all[at % all.length] ?? ['', undefined];
        const wanted = { kind: key.split(/[ /]/)[1] ?? '', keys: [key] };
        const { values, facts } = seenValues(desired, observation, wanted);
        expect(values.get(key)).toEqual(value);
        const unasked = factsWithoutAnswer('not-asked', '');
        const nodes = mapEach(observation.nodes, ({ node, facts: own }) => ({
          node,
          facts: mapEach(own, (one, name) => (facts.has(name) || isUnreachable(one) ? one : unasked[name])),
        }));
        expect(seenValues(desired, { ...observation, nodes }, wanted)).toEqual({ values, facts });
      }),
      { numRuns: runs(100) },
    );
  });

  it('has unique steps, each after all steps it needs', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const plan = makePlan(request(rack));
        expect(disorder(plan)).toEqual([]);
        expect(new Set(plan.steps.map(({ id }) => id)).size).toBe(plan.steps.length);
      }),
      { numRuns: runs(60) },
    );
  });

  it('makes exactly its listed changes', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const plan = makePlan(request(rack));
        const made = new Set(plan.steps.flatMap(({ changes }) => changes));
        expect([...made].sort()).toEqual(plan.changes.map(({ id }) => id).sort());
      }),
      { numRuns: runs(60) },
    );
  });

  it('changes only reachable targets', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const touched = makePlan(request(rack))
          .steps.filter((step) => step.class !== 'manual')
          .map(({ node }) => node);
        const allowed = rack.targets.filter((name) => !rack.unreachable.includes(name));
        expect(touched.filter((node) => !allowed.includes(node))).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  it('never treats an unknown value as a difference', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const { desired, observation, ...rest } = request(rack);
        const seen = seenProperties(desired, observation);
        const plan = makePlan({ desired, observation, ...rest });
        const unknown = plan.changes.filter(({ id }) => seen.get(id)?.kind === 'unknown');
        expect(unknown).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  it('has gates only for observed properties', () => {
    fc.assert(
      fc.property(racks, (rack) => {
        const { observation, ...rest } = request(rack);
        const plan = makePlan({ observation, ...rest });
        const seen = seenProperties(fleet, observation);
        const expected = plan.steps.flatMap(({ act }) => (act.kind === 'gate' ? act.expect : []));
        const strange = expected.filter(({ node, address }) => !seen.has(`${node} ${address}`));
        expect(strange).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('seenProperties', () => {
  it('returns only known values for a completely observed rack', () => {
    const { observation } = request({
      troubles: {},
      unknown: {},
      unreachable: [],
      targets: four,
      goal: { kind: 'converge' },
    });
    const unseen = [...seenProperties(fleet, observation)].filter(([, value]) => value.kind === 'unknown');
    expect(unseen).toEqual([]);
    expect(seenProperties(fleet, observation).get('studio-1 power/sleep')).toEqual(known(0));
  });
});
