import { describe, expect, it } from 'vitest';
import { configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { InstalledFile } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { serviceFile } from '../../../../src/node/paths/own-paths.ts';
import { textDigest } from '../../../../src/node/put-file.ts';
import { placement } from '../../../../src/rack/placement/resource.ts';
import type { Property, View } from '../../../../src/rack/resource.ts';
import { changeOf, judgeProperty } from '../../../../src/rack/resource.ts';
import { type MeshChanges, type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';

const serving = threeRanks(['joined', 'joined', 'joined']);

function viewFor(rack: MeshRack, changes: MeshChanges = {}, targets?: readonly string[]): View {
  const desired = meshFleet(changes);
  const names = targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return viewOf({ desired, observation: observeMesh(desired, rack), targets: names });
}

/** Seals of the generation 4 service files, as `put` writes them. */
function seals(state: InstalledFile['state'] = 'intact'): NonNullable<MeshRack['values']> {
  const fleet = meshFleet();
  const [kimi] = fleet.placements;
  const configured = kimi === undefined ? undefined : configurePlacement(kimi, fleet, 4, lastingNames);
  const ranks = configured?.kind === 'configured' ? configured.ranks : [];
  const { path } = serviceFile('kimi');
  return Object.fromEntries(
    ranks.map(({ node, service }) => [node, { files: [{ path, digest: textDigest(service), state }] }]),
  );
}

const differing = (view: View): readonly Property[] =>
  placement.properties(view).filter((one) => judgeProperty(one) === 'differs');

function stepsFor(view: View): readonly Step[] {
  return placement.steps(differing(view).map(changeOf), view).steps;
}

describe("a serving placement's service files", () => {
  it('need no change while they are intact', () => {
    expect(differing(viewFor({ ranks: serving, values: seals() }))).toEqual([]);
  });

  it.each(['changed', 'missing'] as const)('are rewritten without an interruption when they are %s', (state) => {
    const view = viewFor({ ranks: serving, values: { ...seals(), 'studio-2': { ...seals(state)['studio-2'] } } });
    expect(differing(view).map(({ node, address, from }) => [node, address, from])).toEqual([
      ['studio-2', 'placement/kimi/service-file', `service file ${state}`],
    ]);
    expect(stepsFor(view)).toMatchObject([
      {
        id: 'studio-2/placement/kimi/put-service',
        act: { kind: 'put', path: serviceFile('kimi'), mode: 0o644 },
        effect: { kind: 'none' },
        needs: [],
        establishes: [{ node: 'studio-2', address: 'placement/kimi/service-file', value: 'intact' }],
      },
    ]);
  });

  it('are changed when they belong to a different start', () => {
    const [first] = seals()['studio-1']?.files ?? [];
    const files = first === undefined ? [] : [{ ...first, digest: 'of another start' }];
    const view = viewFor({ ranks: serving, values: { ...seals(), 'studio-1': { files } } });
    expect(differing(view).map(({ node, from }) => [node, from])).toEqual([['studio-1', 'service file changed']]);
  });

  it('are missing when no seal records them', () => {
    const view = viewFor({ ranks: serving, values: { ...seals(), 'studio-3': { files: [] } } });
    expect(differing(view).map(({ node, from }) => [node, from])).toEqual([['studio-3', 'service file missing']]);
  });

  it('are not checked while the placement does not serve or should be stopped', () => {
    for (const view of [viewFor({ ranks: {} }), viewFor({ ranks: serving }, { placement: { state: 'stopped' } })]) {
      const addresses = placement.properties(view).map(({ address }) => address);
      expect(addresses).not.toContain('placement/kimi/service-file');
    }
  });
});

describe('start steps', () => {
  const view = viewFor({ ranks: {} });
  const steps = stepsFor(view);

  it("are in the placement's group, except the preparation before any stop", () => {
    const outside = steps.filter(({ group }) => group !== 'kimi').map(({ act: { kind } }) => kind);
    expect(outside).toEqual(['put', 'put', 'put', 'script', 'script', 'script']);
  });

  it('list the nodes of all other ranks as peers', () => {
    const kick = steps.find(({ id }) => id === 'studio-2/placement/kimi/kick');
    expect(kick?.peers).toEqual(['studio-1', 'studio-3']);
  });

  it("are part of the placement's change, except gates", () => {
    const made = steps.filter(({ act: { kind } }) => kind !== 'gate').map(({ changes }) => changes);
    expect(new Set(made.flat())).toEqual(new Set(['studio-1 placement/kimi']));
    expect(made.every((changes) => changes.length === 1)).toBe(true);
    expect(steps.filter(({ act: { kind } }) => kind === 'gate').flatMap(({ changes }) => changes)).toEqual([]);
  });

  it('require a token as proof that the placement serves', () => {
    const last = steps.at(-1);
    expect(last).toMatchObject({
      id: 'studio-1/placement/kimi/ask',
      act: {
        kind: 'ask',
        judge: 'token',
        port: 8_080,
        path: '/v1/chat/completions',
        pointer: '/choices/0/message/content',
        patience: { placement: 'kimi', stallMs: 30_000 },
      },
      deadlineMs: 150_000,
    });
    const [wanted] = differing(view).filter(({ address }) => address === 'placement/kimi');
    expect(last?.establishes).toMatchObject([{ node: 'studio-1', address: 'placement/kimi', value: wanted?.desired }]);
  });

  it('limit each wave by a stall timeout and a total deadline', () => {
    const waits = steps.filter(({ id }) => /joined/.test(id));
    expect(waits.map(({ act, deadlineMs }) => [act, deadlineMs])).toEqual(
      [1, 2].map(() => [expect.objectContaining({ patience: { placement: 'kimi', stallMs: 30_000 } }), 150_000]),
    );
  });
});

describe('the effect of a stop or restart', () => {
  const kinds = (reason: object, state: 'serving' | 'stopped'): readonly string[] => {
    const token = { kind: 'silent' as const, reason: 'no token', ...reason };
    const ranks = threeRanks(['joined', 'joined', 'joined'], { token });
    const stops = stepsFor(viewFor({ ranks }, { placement: { state } })).filter(({ id }) => id.endsWith('/stop'));
    return [...new Set(stops.map(({ effect }) => effect.kind))];
  };

  it('is an interruption only if the mesh may still be answering', () => {
    expect([kinds({ isTimeout: true }, 'serving'), kinds({ isTimeout: true }, 'stopped')]).toEqual([
      ['interrupt'],
      ['interrupt'],
    ]);
    expect([kinds({}, 'serving'), kinds({}, 'stopped')]).toEqual([['start'], ['start']]);
  });
});

describe('placement dependencies', () => {
  const kindsBefore = (changes: MeshChanges): readonly string[] =>
    placement.properties(viewFor({ ranks: {} }, changes)).find(({ address }) => address === 'placement/kimi')?.after ??
    [];

  it('include cables, and RDMA only if the placement uses it', () => {
    expect(kindsBefore({})).toEqual(expect.arrayContaining(['thunderbolt-link', 'link-address', 'runtime', 'model']));
    expect(kindsBefore({})).not.toContain('rdma');
    expect(kindsBefore({ placement: { transport: 'rdma' } })).toContain('rdma');
  });

  it('include no cables for a single rank, and only identity and sudo for a stop', () => {
    expect(kindsBefore({ placement: { nodes: [nodeName('studio-1')] } })).not.toContain('thunderbolt-link');
    expect(kindsBefore({ placement: { state: 'stopped' } })).toEqual(['identity', 'sudo']);
  });
});

describe('a run on some of the nodes', () => {
  it('ignores a placement with unobserved nodes', () => {
    const desired = meshFleet();
    const { nodes, failures } = observeMesh(desired, { ranks: serving });
    const { 'studio-1': one } = nodes;
    const observation = { nodes: one === undefined ? {} : { 'studio-1': one }, failures };
    const view = viewOf({ desired, observation, targets: [nodeName('studio-1')] });
    expect(placement.properties(view).map(({ address }) => address)).toEqual(['placement']);
  });

  it('compares a placement whose nodes were all observed', () => {
    const view = viewFor({ ranks: threeRanks(['joined', 'exited', 'joined']) }, {}, ['studio-1']);
    expect(differing(view).map(({ address }) => address)).toEqual(['placement/kimi']);
  });
});

describe('a placement whose runtime digest is unknown', () => {
  it('has an unknown state', () => {
    const desired = { ...meshFleet(), runtimes: [] };
    const view = viewOf({
      desired,
      observation: observeMesh(desired, { ranks: {} }),
      targets: [nodeName('studio-1'), nodeName('studio-2'), nodeName('studio-3')],
    });
    const [kimi] = placement.properties(view).filter(({ address }) => address === 'placement/kimi');
    expect(kimi?.observed).toMatchObject({ kind: 'unknown', reason: 'not-asked' });
    expect(kimi?.from).toBe('unknown: it cannot be checked: the digest of runtime reference is not known yet');
  });
});

describe('rank readings', () => {
  it('report the state of every rank to gates', () => {
    const view = viewFor({
      ranks: threeRanks(['joined', 'exited', 'absent']),
      unknown: { 'studio-4': { placements: 'timed-out' } },
    });
    const seen = [...(placement.readings?.(view) ?? [])].map(({ node, address, observed }) => [
      node,
      address,
      observed.kind === 'known' ? observed.value : observed.reason,
    ]);
    expect(seen).toEqual([
      ['studio-1', 'rank/kimi', { generation: 4, state: 'joined' }],
      ['studio-2', 'rank/kimi', { generation: 4, state: 'exited' }],
      ['studio-3', 'rank/kimi', { generation: 0, state: 'absent' }],
      ['studio-4', 'rank/kimi', 'timed-out'],
    ]);
  });
});
