import { describe, expect, it } from 'vitest';
import { shippedPlaybook } from '../../../../src/cli/apply/act-on.ts';
import { launchPlaybook } from '../../../../src/cli/ranks/launch.ts';
import { verbs } from '../../../../src/cli/verbs.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { codes, definedCodes } from '../../../../src/engine/diagnose/rules.ts';
import { type FactName, type FactValues, factNames } from '../../../../src/engine/observe/facts.ts';
import { expandTask } from '../../../../src/engine/playbooks/expand.ts';
import type { Playbook } from '../../../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digestOf, shortDigest } from '../../../../src/model/digest.ts';
import { type NodeName, nodeName } from '../../../../src/model/node.ts';
import { nodesSubject } from '../../../../src/model/subject.ts';
import type { RuleCode } from '../../../../src/rack/define-rule.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import type { PlacementBlockerCode } from '../../../../src/rack/placement/placement-blockers.ts';
import type { ResourceKind } from '../../../../src/rack/resource-kind.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { isWhole, sampleOf } from '../../../sample.ts';
import { onOnePage, onPartOfPage } from '../../one-page.ts';
import { evenShape } from './fit-shapes.ts';

const nodes: readonly NodeName[] = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const trees: FactValues['trees'] = [
  { kind: 'runtime', name: 'reference', digest: shortDigest(digestOf('archive')), isCurrent: true, state: 'intact' },
  { kind: 'model', name: 'tiny', digest: shortDigest(digestOf('model')), isCurrent: false, state: 'intact' },
];
const base = meshFleet({ placement: { transport: 'rdma' } });
const fleet: DesiredFleet = { ...base, system: { ...base.system, wiredLimit: { kind: 'bytes', bytes: 2 ** 38 } } };
const layers = { count: 60, heads: 12, kvHeads: 12, headDim: 12, attention: { kind: 'gqa' }, dims: {} } as const;
const tooLarge: DesiredFleet = {
  ...fleet,
  models: fleet.models.map((model) => ({ ...model, shape: evenShape(1_800e9, layers) })),
};
const bridged: DesiredFleet = { ...fleet, thunderbolt: { ...fleet.thunderbolt, bridge: 'keep' } };

const answers = { token: { kind: 'answered', text: 'Hi' } } as const;
const serving = threeRanks(['joined', 'running', 'running'], answers);
const changed = threeRanks(['joined', 'running', 'running'], { ...answers, digest: digestOf('earlier file') });
const stopped = threeRanks(['stopped', 'stopped', 'stopped']);

/** One obstacle on studio-2 for which a start may wait. */
interface Obstacle {
  readonly values?: Partial<FactValues>;
  readonly unknown?: FactName;
  readonly code?: keyof typeof definedCodes;
  /** The placement's model needs more memory than the Macs have. */
  readonly isTooLarge?: boolean;
}

const settled = nodes.map((name) => {
  const { placements: _, services: __, ...facts } = settledFacts(name);
  return [name, { ...facts, trees, 'wired-limit': { megabytes: 2 ** 18 } }] as const;
});

/** The placements and Macs that a plan with this goal stops or restarts. */
function touched(goal: Goal, ranks: MeshRack['ranks'], obstacle: Obstacle): readonly string[] {
  const all = settled.map(([name, own]) => [name, name === 'studio-2' ? { ...own, ...obstacle.values } : own]);
  const unknown = obstacle.unknown === undefined ? {} : { 'studio-2': { [obstacle.unknown]: 'timed-out' as const } };
  const seen = observeMesh(fleet, { ranks, values: Object.fromEntries(all), unknown });
  const subject = nodesSubject(['studio-2', 'studio-1']);
  const failures =
    obstacle.code === undefined
      ? {}
      : { 'studio-2': [diagnose(codes[obstacle.code], { detail: 'It is so.', subject })] };
  // A bridge that apply removes blocks nothing.
  const whole = obstacle.isTooLarge === true ? tooLarge : fleet;
  const desired = obstacle.code?.startsWith('bridge/') === true ? bridged : whole;
  const { steps } = makePlan({ goal, desired, observation: { ...seen, failures }, targets: nodes });
  const isStop = (resource: string): boolean => resource === 'placement' || resource === 'boot-session';
  return steps.flatMap(({ id, resource, act }) =>
    isStop(resource) && act.kind !== 'hands' && act.kind !== 'gate' ? [id] : [],
  );
}

/** The effect of a command on placements that answer. */
interface Behavior {
  readonly goals: readonly Goal[];
  readonly ranks: MeshRack['ranks'];
  /** Obstacles that the plan itself removes before the start, so that it stops anyway. */
  readonly removes?: readonly string[];
}

/** The plans of a playbook before anything was done. */
function goalsOf({ plays }: Playbook, targets: readonly NodeName[]): readonly Goal[] {
  const tasks = plays.flatMap((play) => play.tasks.map((task) => ({ task, nodes: targets })));
  const works = tasks.map(({ task }, index) =>
    expandTask(task, { desired: fleet, targets }, targets, tasks.slice(index + 1)),
  );
  return works.flatMap((work) => (work.kind === 'plan' && work.goal.kind !== 'start' ? [work.goal] : []));
}

const start: Goal = { kind: 'start', placements: ['kimi'] };
const rollback: Goal = { kind: 'converge', only: ['runtime', 'placement'] };

/**
 * Every command with the goals in which it stops placements and starts them again. It may also stop `nothing`, or stop
 * them `for good`.
 */
const behaviors: Readonly<Record<string, 'nothing' | 'for good' | Behavior>> = {
  ...Object.fromEntries(
    'validate schema fit enroll replace forget secrets unlock plan drift doctor status facts cables graph history logs endpoints wait'
      .split(' ')
      .concat('ask bench bundle hold release exec lease models sim demo drain'.split(' '))
      .map((name) => [name, 'nothing' as const]),
  ),
  ...Object.fromEntries(['stop', 'shutdown', 'uninstall'].map((name) => [name, 'for good' as const])),
  apply: { goals: [{ kind: 'converge' }], ranks: changed, removes: ['no model', 'no runtime'] },
  rollback: { goals: [rollback], ranks: changed, removes: ['no runtime'] },
  start: { goals: [start], ranks: changed },
  restart: { goals: goalsOf(shippedPlaybook('restart'), nodes), ranks: serving },
  recover: { goals: goalsOf(shippedPlaybook('restart'), nodes), ranks: serving },
  launch: { goals: goalsOf(launchPlaybook, nodes), ranks: serving },
  reboot: {
    goals: goalsOf(shippedPlaybook('reboot'), nodes.slice(0, 1)).slice(0, 1),
    ranks: serving,
    get removes() {
      return repairedByRestart;
    },
  },
  upgrade: {
    goals: [{ kind: 'reboot', nodes: nodes.slice(0, 3), back: ['kimi'], install: { to: 'macOS 26.7', on: {} } }],
    ranks: serving,
    get removes() {
      // All members restart, which also repairs their memory; facts from before it say nothing about the start.
      const memory = ['memory/swap-in-use', 'leaked memory', 'model too large'];
      return [...repairedByRestart, ...memory, 'mesh/launch-budget', 'mesh/reboot-mark', 'unknown rdma-starts'];
    },
  },
  run: { goals: [{ kind: 'stop', placements: ['kimi'], back: ['kimi'] }], ranks: changed },
};

const restarting = Object.entries(behaviors).flatMap(([name, behavior]) =>
  typeof behavior === 'string' ? [] : [[name, behavior] as const],
);

/** Kinds that a Mac's reboot may repair: it resolves their findings, even for a serving placement. */
const repairedKinds: readonly ResourceKind[] = [
  'rdma',
  'thunderbolt-link',
  'thunderbolt-bridge',
  'link-address',
  'wired-limit',
];

const roles = Object.entries<RuleCode>(definedCodes).flatMap(([code, { role }]) =>
  typeof role === 'string' ? [] : [[code as keyof typeof definedCodes, role.blocks] as const],
);

const own: Readonly<
  Record<
    PlacementBlockerCode | 'leaked memory' | 'hold/held' | 'no model' | 'no runtime' | 'another macOS',
    Partial<FactValues> | 'after a stop: none'
  >
> = {
  'mesh/launch-budget': { 'rdma-starts': { startedIn: 'BOOT-studio-2', starts: 99, last: [] } },
  'mesh/reboot-mark': { 'reboot-mark': [{ placement: 'other', why: 'kernel' }] },
  'memory/swap-in-use': { swap: { usedMegabytes: 8_193 } },
  // Only running ranks can have this obstacle: a stopped mesh starts anyway.
  'mesh/stays-on-tcp': 'after a stop: none',
  'leaked memory': {
    'reboot-mark': [{ placement: 'other', why: 'memory', wiredBytes: 4e11, baselineBytes: 8e9 }],
  },
  'hold/held': { hold: [{ reason: 'fan', by: 'ana', since: '2026-11-21', isOver: false }] },
  'no model': { trees: trees.slice(0, 1) },
  'no runtime': { trees: trees.slice(1) },
  'another macOS': { 'macos-version': { version: '26.4', build: '25E1' } },
};

const refuses = (obstacle: Obstacle): boolean => touched(start, stopped, obstacle).length === 0;

/** Every obstacle that keeps a start from doing anything. */
const obstacles: readonly (readonly [string, Obstacle])[] = [
  ...roles.map(([code]) => [code, { code }] as const),
  ...Object.entries(own).flatMap(([name, values]) => (typeof values === 'string' ? [] : [[name, { values }] as const])),
  ['model too large', { isTooLarge: true }] as const,
  ...factNames.map((fact) => [`unknown ${fact}`, { unknown: fact }] as const),
].filter(([, obstacle]) => refuses(obstacle));

/**
 * Obstacles that a Mac's reboot may repair, with their facts. If `placements` is unknown, no placement is known to
 * answer.
 */
const repairedByRestart: readonly string[] = [
  ...roles.flatMap(([code, kind]) => (repairedKinds.includes(kind) ? [code] : [])),
  ...'hardware thunderbolt hardware-ports interfaces bridge-preferences network-services rdma-state rdma-devices rdma-ports'
    .split(' ')
    .concat('wired-limit service-addresses placements services'.split(' '))
    .map((fact) => `unknown ${fact}`),
];

const tried = sampleOf(obstacles, { few: Math.ceil(obstacles.length / 9), oneIn: 3 });

const seen = new Map<string, readonly string[]>();

/** Like {@link touched}, but computed only once for commands with the same plan. */
function stopsOf(goal: Goal, ranks: MeshRack['ranks'], name: string, obstacle: Obstacle): readonly string[] {
  const key = JSON.stringify([goal, ranks === serving, name]);
  const stops = seen.get(key) ?? touched(goal, ranks, obstacle);
  seen.set(key, stops);
  return stops;
}

describe('commands that stop a placement and start it again', () => {
  it('are all in the table, with every blocker and obstacle', () => {
    expect(Object.keys(behaviors).sort()).toEqual([...new Set(verbs.map(({ name }) => name.split(' ')[0]))].sort());
    const names = obstacles.map(([name]) => name);
    expect(names.filter((name) => name.startsWith('unknown')).length).toBeGreaterThan(9);
    expect(names.filter((name) => name.startsWith('cabling/') || name.startsWith('rdma/')).length).toBeGreaterThan(9);
    expect(names).toContain('model too large');
    for (const [name, values] of Object.entries(own)) expect(names.includes(name)).toBe(typeof values !== 'string');
  });

  it('RC7: start nothing on leaked memory or much swap, next to an old process, or while processes are unknown', () => {
    const names = ['leaked memory', 'memory/swap-in-use', 'rdma/process-stuck', 'unknown services'];
    expect(obstacles.map(([name]) => name)).toEqual(expect.arrayContaining(names));
  });

  it.each(restarting)('stop a serving placement if nothing blocks its start: %s', (_, { goals, ranks }) => {
    for (const goal of goals) expect(touched(goal, ranks, {}), JSON.stringify(goal)).not.toEqual([]);
  });

  it.each(restarting)('stop nothing if the start would be refused: %s', (_, { goals, ranks, removes = [] }) => {
    const wrong = tried
      .filter(([name]) => !removes.includes(name))
      .flatMap(([name, obstacle]) =>
        goals.flatMap((goal) =>
          stopsOf(goal, ranks, name, obstacle)
            .map((step) => `${name}: ${step}`)
            .slice(0, 1),
        ),
      );
    expect(wrong).toEqual([]);
  });
});

if (isWhole) onOnePage('stop-walk');
else onPartOfPage(new URL('golden/stop-walk.txt', import.meta.url));
