import { describe, expect, it } from 'vitest';
import { fleetWithout } from '../../../../src/engine/goals/uninstall.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { changed, makePlan, stepIds } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const nodes = ['studio-1', 'studio-2', 'studio-3'];

/** The files that apply installs on every node before it starts anything. */
const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];

interface MeshPlan {
  readonly goal?: Goal;
  readonly fleet?: DesiredFleet;
  readonly rack?: Partial<MeshRack>;
  readonly targets?: readonly string[];
}

/** A rack on which everything is in place except the placement and these changes. */
function plan({ goal = { kind: 'converge' }, fleet = meshFleet(), rack = {}, targets = four }: MeshPlan = {}): Plan {
  const values = four.map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, ...(nodes.includes(name) ? { trees } : {}), ...rack.values?.[name] }];
  });
  const all = { ranks: {}, ...rack, values: Object.fromEntries(values) };
  return makePlan({ goal, desired: fleet, observation: observeMesh(fleet, all), targets: targets.map(nodeName) });
}

const kimi = 'studio-1 placement/kimi';
const waitingFor = (made: Plan, resource: string): readonly string[] =>
  made.waiting.filter((one) => one.resource === resource).flatMap((one) => one.for.map(({ text }) => text));

/** All steps that a step needs, directly or through other steps. */
function behind(made: Plan, id: string): ReadonlySet<string> {
  const step = made.steps.find((one) => one.id === id);
  return new Set((step?.needs ?? []).flatMap((need) => [need, ...behind(made, need)]));
}

const serving = threeRanks(['joined', 'running', 'running'], { token: { kind: 'answered', text: 'Hi' } });

describe('a plan with a placement', () => {
  it('names the nodes that the placement moves from and to', () => {
    const fleet = meshFleet({ placement: { nodes: [nodeName('studio-4')] } });
    const ranks = threeRanks(['joined', 'running', 'running'], { token: { kind: 'answered', text: 'Hi' } });
    const values = { 'studio-4': { trees } };
    const [change] = plan({ fleet, rack: { ranks, values } }).changes.filter(
      ({ about }) => about.placement === 'kimi' && about.part === undefined,
    );
    expect([change?.from, change?.to]).toEqual(['running on studio-1..3', 'serving on studio-4']);
  });

  it('switches off the firewall before it starts ranks', () => {
    const fleet = { ...meshFleet(), system: { ...meshFleet().system, firewall: 'disabled' as const } };
    const made = plan({ fleet, rack: { values: { 'studio-2': { firewall: 'blocks-all' } } } });
    const ranks = stepIds(made).filter((id) => id.startsWith('studio-2/placement/kimi/'));
    expect(ranks).not.toEqual([]);
    expect(ranks.filter((id) => !behind(made, id).has('studio-2/firewall/set'))).toEqual([]);
  });

  it('installs everything on all nodes before it stops a running placement', () => {
    const rack = {
      ranks: threeRanks(['joined', 'joined', 'joined'], { digest: digestOf('before') }),
      values: { 'studio-3': { trees: [] } },
    };
    const made = plan({ rack });
    const stops = made.steps.filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank');
    expect(stops).toHaveLength(3);
    for (const { id } of stops) {
      expect([...behind(made, id)]).toEqual(
        expect.arrayContaining(['studio-3/runtime/reference/gate', 'studio-3/model/tiny/gate']),
      );
    }
  });

  it('waits for a cable between two of its nodes, but not for a cable to another node', () => {
    const without = (ends: string): readonly string[] =>
      [
        ...['studio-1:2 <-> studio-2:2', 'studio-1:3 <-> studio-3:2', 'studio-1:4 <-> studio-4:2'],
        ...['studio-2:3 <-> studio-3:3', 'studio-2:4 <-> studio-4:3', 'studio-3:4 <-> studio-4:4'],
      ].filter((link) => link !== ends);
    const rackWith = (cables: readonly string[]): Partial<MeshRack> => ({
      values: Object.fromEntries(
        four
          .map((name) =>
            [name, { ...settledFacts(name, cables), ...(nodes.includes(name) ? { trees } : {}) }].map((one) => one),
          )
          .map(([name, facts]) => {
            const { placements: _, services: __, ...rest } = facts as FactValues;
            return [name, rest];
          }),
      ),
    });
    expect(waitingFor(plan({ rack: rackWith(without('studio-1:3 <-> studio-3:2')) }), 'placement/kimi')).toEqual([
      'cabling/missing on studio-1',
    ]);
    expect(waitingFor(plan({ rack: rackWith(without('studio-1:4 <-> studio-4:2')) }), 'placement/kimi')).toEqual([]);
  });

  it('does not wait for the model of another placement', () => {
    const base = meshFleet();
    const [tiny] = base.models;
    const [one] = base.placements;
    if (tiny === undefined || one === undefined) throw new Error('the fleet has no model or no placement');
    const file = { path: 'weights', sha256: digestOf('weights'), sizeBytes: 1e15 };
    const fleet = {
      ...base,
      models: [{ ...tiny, name: 'huge', digest: digestOf('huge'), files: [file] }, tiny],
      placements: [
        { ...one, name: 'big', model: 'huge', nodes: ['studio-1'].map(nodeName), state: 'stopped' as const },
        one,
      ],
    };
    const made = plan({ fleet });
    expect(made.blockers.map(({ code, blocks }) => `${code}: ${blocks.join()}`)).toEqual([
      'model/no-room: studio-1 model/huge',
    ]);
    expect(changed(made)).toContain(kimi);
  });

  it('waits for an unobserved node without a manual step', () => {
    const made = plan({ rack: { unreachable: ['studio-3'] } });
    expect(changed(made)).not.toContain(kimi);
    expect(made.waiting.find(({ resource }) => resource === 'placement/kimi')).toMatchObject({ isUnknown: true });
  });

  it('waits for nodes that are not among the targets', () => {
    const made = plan({ targets: ['studio-1', 'studio-2'] });
    expect(waitingFor(made, 'placement/kimi')).toEqual(['studio-3 is not among the targets']);
    expect(made.waiting.some(({ isUnknown }) => isUnknown)).toBe(false);
  });
});

describe('the stop goal', () => {
  const goal: Goal = { kind: 'stop', placements: ['kimi'] };

  it('stops only the placement, whatever else differs', () => {
    const values = { 'studio-1': { 'wired-limit': { megabytes: 0 }, 'rdma-state': 'disabled' as const, trees: [] } };
    const made = plan({ goal, rack: { ranks: serving, values } });
    expect(changed(made)).toEqual([kimi]);
    expect(made.blockers).toEqual([]);
    expect(made.steps.every(({ resource }) => resource === 'placement')).toBe(true);
    expect(made.effects).toMatchObject([{ kind: 'interrupt', placements: ['kimi'], nodes }]);
  });

  it('is empty for a stopped placement', () => {
    expect(plan({ goal }).steps).toEqual([]);
  });
});

describe('a placement that is stopped for a restart', () => {
  const stop: Goal = { kind: 'stop', placements: ['kimi'], back: ['kimi'] };
  const reboot: Goal = { kind: 'reboot', nodes: [nodeName('studio-1')], back: ['kimi'] };
  const without = (kind: string) => ({
    ranks: serving,
    values: { 'studio-2': { trees: trees.filter((tree) => tree.kind !== kind) } },
  });
  const upgraded = without('runtime');
  const restart = 'studio-1 boot-session';

  it.each([
    [stop, 'runtime', 'runtime/reference'],
    [stop, 'model', 'model/tiny'],
    [reboot, 'runtime', 'runtime/reference'],
  ] as const)('is not stopped by goal %j while its %s is missing', (goal, kind, address) => {
    const made = plan({ goal, rack: without(kind) });
    expect(made.steps).toEqual([]);
    expect(made.blockers).toMatchObject([{ code: 'plan/not-converged', node: 'studio-2', property: { address } }]);
    expect(waitingFor(made, 'placement/kimi')).toEqual(['plan/not-converged on studio-2']);
  });

  it('is stopped if nothing is missing', () => {
    expect(changed(plan({ goal: stop, rack: { ranks: serving } }))).toEqual([kimi]);
    expect(changed(plan({ goal: reboot, rack: { ranks: serving } }))).toEqual([kimi, restart]);
  });

  it('is stopped despite missing parts if no start follows or it does not answer', () => {
    const { back: _, ...alone } = stop;
    expect(changed(plan({ goal: alone, rack: upgraded }))).toEqual([kimi]);
    const partial = { ...upgraded, ranks: threeRanks(['joined', 'exited', 'joined']) };
    expect(changed(plan({ goal: stop, rack: partial }))).toEqual([kimi]);
    expect(changed(plan({ goal: reboot, rack: { ...upgraded, ranks: {} } }))).toEqual([restart]);
  });
});

describe('the start goal', () => {
  const goal: Goal = { kind: 'start', placements: ['kimi'] };
  const base = meshFleet({ placement: { state: 'stopped' } });

  it('starts a placement that the file sets to stopped', () => {
    const made = plan({ goal, fleet: base });
    expect(changed(made)).toEqual([kimi]);
    expect(stepIds(made)).toContain('studio-1/placement/kimi/ask');
  });

  it('changes nothing while a node differs, and asks for apply first', () => {
    const made = plan({ goal, fleet: base, rack: { values: { 'studio-2': { 'wired-limit': { megabytes: 0 } } } } });
    expect(made.steps).toEqual([]);
    expect(made.blockers).toMatchObject([
      { code: 'plan/not-converged', node: 'studio-2', blocks: [kimi], isHands: false },
    ]);
  });
});

describe('an abandoned job on a node', () => {
  const goal: Goal = { kind: 'start', placements: ['kimi'] };
  const base = meshFleet({ placement: { state: 'stopped' } });
  const job = { key: '0'.repeat(64), fields: { name: 'fetch-model', state: 'gone' } };

  it('does not block a start, whether known or unknown', () => {
    const left = plan({ goal, fleet: base, rack: { values: { 'studio-2': { jobs: [job] } } } });
    const unseen = plan({ goal, fleet: base, rack: { unknown: { 'studio-2': { jobs: 'truncated' } } } });
    for (const made of [left, unseen]) {
      expect([changed(made), made.blockers]).toEqual([[kimi], []]);
      expect(stepIds(made)).toContain('studio-1/placement/kimi/ask');
    }
  });

  it('is removed by apply without an effect', () => {
    const made = plan({
      goal: { kind: 'converge', only: ['staging'] },
      rack: { ranks: serving, values: { 'studio-2': { jobs: [job] } } },
    });
    expect(changed(made)).toEqual(['studio-2 staging']);
    expect([stepIds(made), made.effects]).toEqual([['studio-2/staging/clear'], []]);
  });
});

describe('the reboot goal for a node with a rank', () => {
  const goal: Goal = { kind: 'reboot', nodes: [nodeName('studio-2')] };

  it('stops the placement on all nodes first', () => {
    const made = plan({ goal, rack: { ranks: serving } });
    const stops = made.steps.filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank').map(({ id }) => id);
    expect(stops).toHaveLength(3);
    expect([...behind(made, 'studio-2/reboot')]).toEqual(expect.arrayContaining(stops));
    expect(made.effects.map(({ kind }) => kind)).toEqual(['interrupt', 'reboot']);
  });

  it.each(['reboot', 'shutdown'] as const)('does not wait for an unkillable rank on that node before a %s', (kind) => {
    const made = plan({ goal: { kind, nodes: goal.nodes }, rack: { ranks: serving } });
    const stops = made.steps.flatMap(({ node, act }) =>
      act.kind === 'script' && act.name === 'stop-rank' ? [[node, act.args.beforeReboot]] : [],
    );
    expect(stops).toEqual(
      expect.arrayContaining([
        ['studio-1', undefined],
        ['studio-2', true],
        ['studio-3', undefined],
      ]),
    );
    const gates = made.steps.flatMap(({ id, act }) => (act.kind === 'gate' ? [{ id, act }] : []));
    expect(gates.flatMap(({ act }) => act.expect.map(({ node }) => node))).toEqual(['studio-1', 'studio-3']);
    expect([...behind(made, `studio-2/${kind}`)]).toEqual(expect.arrayContaining(gates.map(({ id }) => id)));
  });

  it('needs no gate for ranks that the reboots themselves stop', () => {
    const all = { kind: 'reboot', nodes: nodes.map(nodeName) } as const;
    const made = plan({ goal: all, rack: { ranks: serving } });
    expect(made.steps.filter(({ act }) => act.kind === 'gate')).toEqual([]);
    for (const node of nodes) {
      const stops = nodes.map((name) => `${name}/placement/kimi/stop`);
      expect([...behind(made, `${node}/reboot`)]).toEqual(expect.arrayContaining(stops));
    }
  });

  it('stops a rank that the file no longer places there, and leaves its files', () => {
    const fleet = meshFleet();
    const [kimi] = fleet.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    const nodes = kimi.nodes.filter((name) => name !== 'studio-2');
    const made = plan({
      goal: { kind: 'reboot', nodes: ['studio-1', 'studio-2'].map(nodeName) },
      fleet: { ...fleet, placements: [{ ...kimi, nodes }] },
      rack: { ranks: serving },
    });
    expect(stepIds(made)).not.toContain('studio-2/placement/kimi/remove');
    expect([...behind(made, 'studio-2/reboot')]).toContain('studio-2/placement/kimi/stop');
  });

  it('marks its stops as preceding a reboot, unlike stop and uninstall', () => {
    const goals: readonly Goal[] = [
      { kind: 'stop', placements: ['kimi'] },
      { kind: 'uninstall', nodes: goal.nodes, placements: ['kimi'], restore: false, models: false },
    ];
    for (const one of goals) {
      const fleet = one.kind === 'uninstall' ? fleetWithout(meshFleet(), one.nodes).fleet : meshFleet();
      const made = plan({ goal: one, fleet, rack: { ranks: serving } });
      const stops = made.steps.flatMap(({ act }) => (act.kind === 'script' && act.name === 'stop-rank' ? [act] : []));
      expect([one.kind, stops.length]).toEqual([one.kind, 3]);
      expect(stops.filter(({ args }) => args.beforeReboot !== undefined)).toEqual([]);
    }
  });

  it("restarts the Mac even if the placement's state is unknown", () => {
    const unknown = { 'studio-3': { placements: 'timed-out' as const, services: 'timed-out' as const } };
    const made = plan({ goal, rack: { ranks: serving, unknown } });
    expect(stepIds(made)).toContain('studio-2/reboot');
  });
});

onOnePage('placements');
