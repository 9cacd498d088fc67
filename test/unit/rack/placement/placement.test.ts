import { describe, expect, it } from 'vitest';
import { configurePlacement } from '../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../src/drivers/contract/driver.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { KeptFile } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { serviceFile } from '../../../../src/node/paths/own-paths.ts';
import { textDigest } from '../../../../src/node/put-file.ts';
import { placement } from '../../../../src/rack/placement/resource.ts';
import type { Property, View } from '../../../../src/rack/resource.ts';
import { changeOf, judgeProperty } from '../../../../src/rack/resource.ts';
import { type MeshChanges, type MeshRack, meshFleet, observeMesh, threeMembers } from '../../../rack/placements.ts';

const serving = threeMembers(['joined', 'joined', 'joined']);

function viewFor(rack: MeshRack, changes: MeshChanges = {}, targets?: readonly string[]): View {
  const desired = meshFleet(changes);
  const names = targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return viewOf({ desired, observation: observeMesh(desired, rack), targets: names });
}

/** The seals of the service files of generation 4, as `put` leaves them. */
function seals(state: KeptFile['state'] = 'intact'): NonNullable<MeshRack['values']> {
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

describe('service files of a placement that serves', () => {
  it('are nothing to do while they are as they were put', () => {
    expect(differing(viewFor({ members: serving, values: seals() }))).toEqual([]);
  });

  it.each(['changed', 'missing'] as const)('are put again when they are %s, and nothing is interrupted', (state) => {
    const view = viewFor({ members: serving, values: { ...seals(), 'studio-2': { ...seals(state)['studio-2'] } } });
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

  it('are changed when they are those of another start', () => {
    const [first] = seals()['studio-1']?.files ?? [];
    const files = first === undefined ? [] : [{ ...first, digest: 'of another start' }];
    const view = viewFor({ members: serving, values: { ...seals(), 'studio-1': { files } } });
    expect(differing(view).map(({ node, from }) => [node, from])).toEqual([['studio-1', 'service file changed']]);
  });

  it('are missing where no seal says that they were put', () => {
    const view = viewFor({ members: serving, values: { ...seals(), 'studio-3': { files: [] } } });
    expect(differing(view).map(({ node, from }) => [node, from])).toEqual([['studio-3', 'service file missing']]);
  });

  it('are nobody to judge while the placement does not serve', () => {
    const addresses = placement.properties(viewFor({ members: {} })).map(({ address }) => address);
    expect(addresses).not.toContain('placement/kimi/service-file');
  });
});

describe('steps of a start', () => {
  const view = viewFor({ members: {} });
  const steps = stepsFor(view);
  const act = (verb: string): Step['act'] | undefined => steps.find(({ id }) => id.endsWith(`/${verb}`))?.act;

  it('are in the group of the placement, but for what comes before anything is stopped', () => {
    const outside = steps.filter(({ group }) => group !== 'kimi').map(({ act: { kind } }) => kind);
    expect(outside).toEqual(['put', 'put', 'put', 'script', 'script', 'script']);
  });

  it('rely on all other members', () => {
    const kick = steps.find(({ id }) => id === 'studio-2/placement/kimi/kick');
    expect(kick?.peers).toEqual(['studio-1', 'studio-3']);
  });

  it('make the change of the placement, gates excepted', () => {
    const made = steps.filter(({ act: { kind } }) => kind !== 'gate').map(({ changes }) => changes);
    expect(new Set(made.flat())).toEqual(new Set(['studio-1 placement/kimi']));
    expect(made.every((changes) => changes.length === 1)).toBe(true);
    expect(steps.filter(({ act: { kind } }) => kind === 'gate').flatMap(({ changes }) => changes)).toEqual([]);
  });

  it('carry record and request of the start to every member', () => {
    expect(act('bootstrap')).toMatchObject({
      name: 'bootstrap-rank',
      args: {
        record: { placement: 'kimi', generation: 1, rank: 0, size: 3 },
        request: expect.stringContaining('"Hi"'),
      },
    });
  });

  it('end with a token, and only that establishes that it serves', () => {
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

  it('give a wave as long as the first token may take without progress, and as long as the model needs with it', () => {
    const waits = steps.filter(({ id }) => /joined/.test(id));
    expect(waits.map(({ act, deadlineMs }) => [act, deadlineMs])).toEqual(
      [1, 2].map(() => [expect.objectContaining({ patience: { placement: 'kimi', stallMs: 30_000 } }), 150_000]),
    );
  });
});

describe('steps of a stop', () => {
  it('give ten seconds to what serves, and two to what serves nobody', () => {
    const silent = { token: { kind: 'silent', reason: 'timed out' } } as const;
    const graces = [serving, threeMembers(['joined', 'joined', 'joined'], silent)].map((members) => {
      const [stop] = stepsFor(viewFor({ members }, { placement: { state: 'stopped' } }));
      return stop?.act.kind === 'script' && stop.act.name === 'stop-rank' ? stop.act.args.graceMs : undefined;
    });
    expect(graces).toEqual([10_000, 2_000]);
  });
});

describe('what a stop or a restart takes away', () => {
  const kinds = (reason: object, state: 'serving' | 'stopped'): readonly string[] => {
    const token = { kind: 'silent' as const, reason: 'no token', ...reason };
    const members = threeMembers(['joined', 'joined', 'joined'], { token });
    const stops = stepsFor(viewFor({ members }, { placement: { state } })).filter(({ id }) => id.endsWith('/stop'));
    return [...new Set(stops.map(({ effect }) => effect.kind))];
  };

  it('is an interruption for whoever a busy mesh may answer, and a mesh that can answer nobody interrupts nobody', () => {
    expect([kinds({ isTimeout: true }, 'serving'), kinds({ isTimeout: true }, 'stopped')]).toEqual([
      ['interrupt'],
      ['interrupt'],
    ]);
    expect([kinds({}, 'serving'), kinds({}, 'stopped')]).toEqual([['start'], ['start']]);
  });
});

describe('what a placement waits for', () => {
  const kindsBefore = (changes: MeshChanges): readonly string[] =>
    placement.properties(viewFor({ members: {} }, changes)).find(({ address }) => address === 'placement/kimi')
      ?.after ?? [];

  it('are the cables, and RDMA only where it is used', () => {
    expect(kindsBefore({})).toEqual(expect.arrayContaining(['thunderbolt-link', 'link-address', 'runtime', 'model']));
    expect(kindsBefore({})).not.toContain('rdma');
    expect(kindsBefore({ placement: { transport: 'rdma' } })).toContain('rdma');
  });

  it('are no cables for a single rank, and next to nothing for a stop', () => {
    expect(kindsBefore({ placement: { nodes: [nodeName('studio-1')] } })).not.toContain('thunderbolt-link');
    expect(kindsBefore({ placement: { state: 'stopped' } })).toEqual(['identity', 'sudo']);
  });
});

describe('a run on some of the nodes', () => {
  it('leaves a placement alone whose other members nobody looked at', () => {
    const desired = meshFleet();
    const { nodes, failures } = observeMesh(desired, { members: serving });
    const { 'studio-1': one } = nodes;
    const observation = { nodes: one === undefined ? {} : { 'studio-1': one }, failures };
    const view = viewOf({ desired, observation, targets: [nodeName('studio-1')] });
    expect(placement.properties(view).map(({ address }) => address)).toEqual(['placement']);
  });

  it('judges a placement that was looked at whole', () => {
    const view = viewFor({ members: threeMembers(['joined', 'exited', 'joined']) }, {}, ['studio-1']);
    expect(differing(view).map(({ address }) => address)).toEqual(['placement/kimi']);
  });
});

describe('what cannot be judged', () => {
  it('is a placement whose runtime has no digest yet', () => {
    const desired = { ...meshFleet(), runtimes: [] };
    const view = viewOf({
      desired,
      observation: observeMesh(desired, { members: {} }),
      targets: [nodeName('studio-1'), nodeName('studio-2'), nodeName('studio-3')],
    });
    const [kimi] = placement.properties(view).filter(({ address }) => address === 'placement/kimi');
    expect(kimi?.observed).toMatchObject({ kind: 'unknown', reason: 'not-asked' });
    expect(kimi?.from).toBe('unknown: it cannot be checked: the digest of runtime reference is not known yet');
  });
});

describe('sights', () => {
  it('tell gates what every rank does', () => {
    const view = viewFor({
      members: threeMembers(['joined', 'exited', 'absent']),
      unknown: { 'studio-4': { placements: 'timed-out' } },
    });
    const seen = placement
      .sights?.(view)
      .map(({ node, address, observed }) => [
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
