import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FactName } from '../../src/engine/observe/facts.ts';
import { viewOf } from '../../src/engine/plan/view.ts';
import type { TokenResult } from '../../src/model/facts/fact-values.ts';
import type { UnknownReason } from '../../src/model/known.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Step } from '../../src/model/step.ts';
import type { RankState } from '../../src/rack/placement/mesh/rank-states.ts';
import { placement } from '../../src/rack/placement/resource.ts';
import type { Property } from '../../src/rack/resource.ts';
import { changeOf, judgeProperty } from '../../src/rack/resource.ts';
import { fleetOfDriver, type MeshChanges, type MeshRack, observeMesh, type RankCase } from '../rack/placements.ts';
import { runs } from '../runs.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

const token = fc.constantFrom<TokenResult>(
  { kind: 'not-asked' },
  { kind: 'answered', text: 'Hi' },
  { kind: 'in-flight', reason: 'a request is in flight' },
  { kind: 'in-flight', reason: 'a client got a token', lastTokenMsAgo: 40 },
  { kind: 'silent', reason: 'status 503' },
  { kind: 'silent', reason: 'timed out', isTimeout: true },
);

const rank = fc.record(
  {
    state: fc.constantFrom<RankState>('absent', 'stopped', 'ready', 'running', 'joined', 'exited'),
    placement: fc.constantFrom('kimi', 'kimi', 'kimi', 'old'),
    rank: fc.nat({ max: 3 }),
    generation: fc.constantFrom(3, 4),
    digest: fc.constantFrom('of old', 'of another'),
    startedIn: fc.constantFrom('', 'BOOT-before', 'BOOT-studio-1'),
    starts: fc.nat({ max: 4 }),
    lacks: fc.constantFrom('record', 'service'),
    token,
  },
  { requiredKeys: ['state', 'rank', 'token'] },
);

/** Omits undefined fields, because they would differ from missing ones. */
const asCase = (one: Partial<Record<keyof RankCase, unknown>>): RankCase =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as unknown as RankCase;

const unknowns = fc.dictionary(
  fc.constantFrom(...nodes),
  fc.dictionary(
    fc.constantFrom<FactName>('placements', 'services', 'boot-session', 'files'),
    fc.constantFrom<UnknownReason>('timed-out', 'garbled'),
  ),
);

const racks = fc.record({
  ranks: fc.dictionary(fc.constantFrom(...nodes), fc.array(rank.map(asCase), { maxLength: 2 })),
  unknown: fc.option(unknowns, { nil: {}, freq: 3 }),
});

const files: fc.Arbitrary<MeshChanges> = fc.record({
  placement: fc.record({
    nodes: fc.constantFrom(['studio-1', 'studio-2', 'studio-3'].map(nodeName), [nodeName('studio-2')]),
    state: fc.constantFrom('serving', 'serving', 'stopped'),
    transport: fc.constantFrom('tcp', 'rdma'),
  }),
  runtime: fc.record({
    order: fc.constantFrom('leader-first', 'followers-first', 'together'),
    restart: fc.constantFrom('group', 'node'),
  }),
});

interface Planned {
  /** The ranks that the nodes report. */
  readonly ranks: MeshRack['ranks'];
  readonly properties: readonly Property[];
  readonly steps: readonly Step[];
  readonly rescues: readonly Step[];
  readonly rescued: readonly string[];
}

/** Plans with at most one record or service of a placement per node, as on a Mac. */
function planned(file: MeshChanges, { ranks: drawn, ...rack }: MeshRack, driver = 'command'): Planned {
  const ranks = Object.fromEntries(
    Object.entries(drawn).map(([node, all]) => [
      node,
      [...new Map(all.map((one) => [one.placement ?? 'kimi', one])).values()],
    ]),
  );
  const desired = fleetOfDriver(driver, file);
  const observation = observeMesh(desired, { ...rack, ranks });
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  const properties = placement.properties(view);
  const changes = properties.filter((one) => judgeProperty(one) === 'differs').map(changeOf);
  const { steps, rescues = [] } = placement.steps(changes, view);
  const rescuing = rescues.flatMap((rescue) => rescue.steps);
  return { ranks, properties, steps, rescues: rescuing, rescued: rescuing.map(({ node }) => node) };
}

/** All steps that a step needs, directly or indirectly. */
function behind(step: Step, steps: readonly Step[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = ({ needs }: Step): void => {
    for (const id of needs) {
      const needed = steps.find((one) => one.id === id);
      if (needed === undefined) throw new Error(`${step.id} needs ${id}, which does not exist`);
      if (!found.has(id)) {
        found.add(id);
        visit(needed);
      }
    }
  };
  visit(step);
  return found;
}

const script = (step: Step): string => (step.act.kind === 'script' ? step.act.name : step.act.kind);
const named = (steps: readonly Step[], name: string): readonly Step[] => steps.filter((step) => script(step) === name);
const idsOf = (steps: readonly Step[]): readonly string[] => steps.map(({ id }) => id);

const forAll = (judge: (plan: Planned, file: MeshChanges, rack: MeshRack) => void): void => {
  fc.assert(
    fc.property(files, racks, (file, rack) => judge(planned(file, rack), file, rack)),
    { numRuns: runs(100) },
  );
};

describe('a plan for any combination of ranks', () => {
  it('has unique step ids and no cyclic dependencies', () => {
    forAll(({ steps }) => {
      expect(new Set(idsOf(steps)).size).toBe(steps.length);
      for (const step of steps) expect([...behind(step, steps)]).not.toContain(step.id);
    });
  });

  it.each(['command', 'llamacpp-rpc', 'mlx', 'exo'] as const)(
    'has unique ids, even in rescues, for ranks of %s',
    (driver) => {
      // Most racks have all ranks, so that a start must stop some of them first.
      const up = fc.record({ digest: fc.constantFrom('of old', 'of another'), token }).map(
        (one): MeshRack => ({
          ranks: Object.fromEntries(
            nodes.slice(0, 3).map((node, rank) => [node, [{ ...one, state: 'joined', rank, changes: { driver } }]]),
          ),
        }),
      );
      fc.assert(
        fc.property(fc.oneof(up, racks), (rack) => {
          const { steps, rescues } = planned({}, rack, driver);
          const ids = idsOf([...steps, ...rescues]);
          expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
        }),
        { numRuns: runs(50) },
      );
    },
  );

  it('starts a rank only after a gate has seen that every rank is ready', () => {
    forAll(({ steps }) => {
      const bootstraps = idsOf(named(steps, 'bootstrap-rank'));
      const gates = idsOf(steps.filter(({ id }) => id.endsWith('/ready')));
      expect(gates.length).toBe(bootstraps.length === 0 ? 0 : 1);
      for (const kick of named(steps, 'kick-rank')) {
        expect([...behind(kick, steps)]).toEqual(expect.arrayContaining([...bootstraps, ...gates]));
      }
    });
  });

  it('prepares a rank only after everything that must stop on its nodes has stopped', () => {
    forAll(({ steps }) => {
      const bootstraps = named(steps, 'bootstrap-rank');
      const near = new Set(bootstraps.map(({ node }) => node));
      const stops = idsOf(named(steps, 'stop-rank').filter(({ node }) => near.has(node)));
      for (const one of bootstraps) expect([...behind(one, steps)]).toEqual(expect.arrayContaining([...stops]));
    });
  });

  it('stops every observed rank with a process before it prepares new ones', () => {
    forAll(({ ranks, steps }, _file, { unknown = {} }) => {
      if (named(steps, 'bootstrap-rank').length === 0) return;
      const stopped = named(steps, 'stop-rank').map(({ node }) => node);
      for (const [node, all] of Object.entries(ranks)) {
        if (Object.keys(unknown[node] ?? {}).length > 0) continue;
        const last = all.find(({ placement: name = 'kimi' }) => name === 'kimi');
        const isUp = last?.lacks !== 'service' && (last?.state === 'running' || last?.state === 'joined');
        if (isUp) expect(stopped).toContain(node);
      }
    });
  });

  it('installs all files before it stops ranks to restart them', () => {
    forAll(({ steps }) => {
      const puts = idsOf(named(steps, 'put').filter(({ changes }) => changes.some((id) => id.endsWith('/kimi'))));
      if (puts.length === 0) return;
      const stops = named(steps, 'stop-rank').filter(({ group }) => group === 'kimi');
      for (const stop of stops) expect([...behind(stop, steps)]).toEqual(expect.arrayContaining([...puts]));
    });
  });

  it('requests a token last, and rescues every rank it starts', () => {
    forAll(({ steps, rescued }, file) => {
      const asks = named(steps, 'ask');
      const kicks = idsOf(named(steps, 'kick-rank'));
      expect(asks.length).toBe(kicks.length === 0 ? 0 : 1);
      for (const ask of asks) expect([...behind(ask, steps)]).toEqual(expect.arrayContaining([...kicks]));
      expect(rescued).toEqual(kicks.length === 0 ? [] : file.placement?.nodes);
    });
  });

  it('does not change a placement with an unknown rank', () => {
    forAll(({ properties, steps }) => {
      const kimi = properties.find(({ address }) => address === 'placement/kimi');
      if (kimi?.observed.kind !== 'unknown') return;
      expect(steps.filter(({ changes }) => changes.includes(`${kimi.node} placement/kimi`))).toEqual([]);
    });
  });

  it('interrupts only a placement that answers, may answer, or cannot be asked', () => {
    forAll(({ ranks, steps }, file, { unknown = {} }) => {
      const isSeen = (node: string): boolean => Object.keys(unknown[node] ?? {}).length === 0;
      const all = Object.entries(ranks).flatMap(([node, own]) => (isSeen(node) ? own : []));
      const declared = file.placement?.nodes ?? [];
      const isRankZero = (one: RankCase): boolean => one.rank === 0 && one.lacks !== 'record' && one.state !== 'absent';
      // The placement's leader may run on a declared Mac that was not observed, even if other Macs still have old
      // ranks.
      const isHidden =
        declared.some((node) => !isSeen(node)) &&
        !declared.some((node) => isSeen(node) && (ranks[node] ?? []).some(isRankZero));
      for (const { effect } of steps) {
        if (effect.kind !== 'interrupt') continue;
        const own = all.filter(({ placement: name = 'kimi' }) => name === effect.placement);
        const mayAnswer = own.some(
          ({ token: seen }) =>
            seen?.kind === 'answered' ||
            seen?.kind === 'not-asked' ||
            seen?.kind === 'in-flight' ||
            (seen?.kind === 'silent' && seen.isTimeout === true),
        );
        const isLeaderless = !own.some(isRankZero);
        expect(mayAnswer || isLeaderless || (effect.placement === 'kimi' && isHidden)).toBe(true);
      }
    });
  });
});
