import { describe, expect, it } from 'vitest';
import { configurePlacement } from '../../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../../src/drivers/contract/driver.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { rankReading } from '../../../../../src/rack/placement/mesh/rank-states.ts';
import type { Mesh } from '../../../../../src/rack/placement/mesh/read-mesh.ts';
import {
  digestOfKimi,
  type MeshRack,
  meshFleet,
  observeMesh,
  type RankCase,
  threeRanks,
} from '../../../../rack/placements.ts';
import { onOnePage } from '../../../one-page.ts';
import { readMesh } from '../recorded-mesh.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);

function meshOf(rack: MeshRack, digest?: string): Mesh {
  const fleet = meshFleet();
  const expected = { placement: 'kimi', nodes, digest: digest ?? digestOfKimi(fleet) };
  return readMesh(expected, observeMesh(fleet, rack).nodes);
}

const verdict = (rack: MeshRack, digest?: string): readonly string[] => {
  const { state, evidence } = meshOf(rack, digest);
  return [state, evidence];
};

describe('a mesh started with different settings', () => {
  const declared = (settings: Readonly<Record<string, string>>): string =>
    JSON.stringify({ context: '16k', model: 'tiny abc', ...settings });
  const evidence = (kept: string | undefined): string => {
    const changes = kept === undefined ? {} : { declared: kept };
    const ranks = threeRanks(['joined', 'joined', 'joined'], { digest: 'of old', changes });
    const expected = { placement: 'kimi', nodes, digest: 'of now', declared: declared({}) };
    const mesh = readMesh(expected, observeMesh(meshFleet(), { ranks }).nodes);
    return mesh.state === 'changed' ? mesh.evidence : mesh.state;
  };

  it('lists each setting with its old and new value', () => {
    expect(evidence(declared({ context: '8k' }))).toBe('context 8k (file: 16k)');
    // A record without an account belongs to a start as the SSH user.
    expect(evidence(declared({ account: '_meshrank' }))).toBe('account _meshrank (file: login)');
    expect(evidence(declared({ context: '8k', backend: 'ring' }))).toBe(
      'context 8k (file: 16k), backend ring (file: not set)',
    );
  });

  it('reports unnamed settings and records without settings', () => {
    expect(evidence(declared({}))).toBe('settings other than account, context, model');
    const unknown = 'which ones is unknown, because its record does not store settings';
    expect([evidence(undefined), evidence('{"context":8}'), evidence('[cut')]).toEqual([unknown, unknown, unknown]);
  });

  it('stores its settings in the record next to the digest', () => {
    const fleet = meshFleet();
    const [first] = fleet.placements;
    if (first === undefined) throw new Error('the fleet has no placement');
    const started = configurePlacement(first, fleet, 4, lastingNames);
    const kept = started.kind === 'configured' ? started.ranks.map(({ record }) => record.declared) : [];
    expect(new Set(kept).size).toBe(1);
    expect(JSON.parse(kept[0] ?? '')).toMatchObject({ context: '4k', nodes: 'studio-1, studio-2, studio-3' });
  });
});

describe('a mesh', () => {
  it('is serving if all ranks match the file and the endpoint returned a token', () => {
    const mesh = meshOf({ ranks: threeRanks(['joined', 'joined', 'joined']) });
    expect(mesh).toMatchObject({ state: 'serving', generation: 4, isAnswering: true });
    expect(mesh).not.toHaveProperty('reason');
  });

  it('is serving after a token even if a rank no longer listens', () => {
    expect(verdict({ ranks: threeRanks(['joined', 'running', 'joined']) })[0]).toBe('serving');
  });

  it('is changed if a rank uses TCP instead of RDMA', () => {
    const fleet = meshFleet();
    const observed = observeMesh(fleet, { ranks: threeRanks(['joined', 'joined', 'joined']) }).nodes;
    const verdictOver = (transport: 'rdma' | 'tcp', seen: 'rdma' | 'tcp' | undefined) => {
      const driver = { observe: () => (seen === undefined ? {} : { transport: seen }) };
      const talk = { transport, driver };
      const { state, evidence } = readMesh({ placement: 'kimi', nodes, digest: digestOfKimi(fleet), talk }, observed);
      return [state, evidence];
    };
    expect(verdictOver('rdma', 'tcp')).toEqual(['changed', 'its ranks use tcp, the file says rdma']);
    const serving = ['serving', 'its endpoint returned a token'];
    const asDeclared = [verdictOver('rdma', 'rdma'), verdictOver('rdma', undefined), verdictOver('tcp', 'tcp')];
    expect(asDeclared).toEqual([serving, serving, serving]);
  });

  it('stays on TCP if the previous start with the same file and boot session used TCP', () => {
    const fleet = meshFleet({ placement: { transport: 'rdma' } });
    const talk = { transport: 'rdma', driver: { observe: () => ({ transport: 'tcp' as const }) } } as const;
    const usedTcpWith = (states: Parameters<typeof threeRanks>[0], more: Parameters<typeof threeRanks>[1]) => {
      const ranks = Object.fromEntries(
        Object.entries(threeRanks(states, more)).map(([node, all]) => [
          node,
          all.map((one) => ({ startedIn: `BOOT-${node}`, starts: 1, ...one })),
        ]),
      );
      const expected = { placement: 'kimi', nodes, digest: digestOfKimi(fleet), talk };
      return readMesh(expected, observeMesh(fleet, { ranks }).nodes).usedTcp;
    };
    const running = ['joined', 'joined', 'joined'] as const;
    const again = { changes: { lastTalked: 'tcp' } } as const;
    expect(usedTcpWith([...running], {})).toBe('once');
    expect(usedTcpWith([...running], again)).toBe('again');
    expect(usedTcpWith(['stopped', 'stopped', 'stopped'], again)).toBe('once');
    expect(usedTcpWith([...running], { ...again, digest: 'of old' })).toBe('no');
    expect(usedTcpWith([...running], { ...again, startedIn: 'BOOT-before' })).toBe('no');
  });

  it('is not placed if no node has a record of it', () => {
    expect(meshOf({ ranks: {} })).toMatchObject({ state: 'not-placed', generation: 0, isAnswering: false });
  });

  it.each<[string, Parameters<typeof threeRanks>[0], string, Parameters<typeof threeRanks>[1]?]>([
    ['stopped', ['stopped', 'stopped', 'stopped'], 'no rank runs'],
    ['stopped', ['stopped', 'ready', 'stopped'], 'no rank runs'],
    ['stopped', ['stopped', 'absent', 'stopped'], 'no rank runs'],
    ['stopped', ['ready', 'ready', 'ready'], 'no rank runs'],
    [
      'stopped',
      ['ready', 'ready', 'ready'],
      'no rank runs since a restart of studio-1..3',
      { startedIn: 'BOOT-before', starts: 1 },
    ],
    ['dead', ['exited', 'exited', 'exited'], 'studio-1 exited (1), studio-2 exited (1), studio-3 exited (1)'],
    [
      'dead',
      ['ready', 'exited', 'absent'],
      'studio-2 was ended by macOS (JETSAM_REASON_MEMORY_VMPAGESHORTAGE: it was stopped to free memory)',
      { lastExit: 'JETSAM_REASON_MEMORY_VMPAGESHORTAGE' },
    ],
    ['partial', ['joined', 'exited', 'joined'], 'rank 1 on studio-2 exited', { lastExit: '(never exited)' }],
    ['partial', ['joined', 'exited', 'joined'], 'rank 1 on studio-2 exited (1)'],
    [
      'partial',
      ['joined', 'exited', 'joined'],
      'rank 1 on studio-2 was ended by a signal (Killed: 9)',
      { lastExit: 'Killed: 9' },
    ],
    ['partial', ['joined', 'ready', 'ready'], 'rank 1 on studio-2 was not started, rank 2 on studio-3 was not started'],
    ['partial', ['stopped', 'joined', 'joined'], 'rank 0 on studio-1 is stopped'],
    ['partial', ['joined', 'joined', 'absent'], 'rank 2 on studio-3 is missing'],
  ])('is %s with ranks %s: %s', (state, states, evidence, more = {}) => {
    expect(verdict({ ranks: threeRanks(states, more) })).toEqual([state, evidence]);
  });

  it('is hung without a token and names the ranks that have not joined', () => {
    const silent = { token: { kind: 'silent', reason: 'timed out after 30 s' } } as const;
    const ranks = threeRanks(['joined', 'joined', 'running'], silent);
    expect(verdict({ ranks })).toEqual(['hung', 'no token: timed out after 30 s; rank 2 on studio-3 has not joined']);
    expect(meshOf({ ranks }).isAnswering).toBe(false);
  });

  it('is hung, not unknown or busy, while a rank is suspended by a signal', () => {
    const late = { kind: 'silent', reason: 'none came in time', isTimeout: true } as const;
    const busy = { kind: 'in-flight', reason: 'another request is in flight, so none was sent' } as const;
    const words = [late, busy].map((token) => {
      const ranks = threeRanks(['joined', 'joined', 'joined'], { token });
      return verdict({ ranks: { ...ranks, 'studio-2': [{ state: 'joined', rank: 1, suspended: [4_711] }] } });
    });
    expect(words).toEqual([
      ['hung', 'no token: none came in time; rank 1 on studio-2 is suspended'],
      ['hung', 'no token: rank 1 on studio-2 is suspended'],
    ]);
  });

  it('cannot answer a request in flight after a rank of the same start exited', () => {
    const token = { kind: 'in-flight', reason: 'another request is in flight, so none was sent' } as const;
    const isAnswering = (second: Partial<RankCase>): boolean => {
      const ranks = {
        'studio-1': [{ state: 'joined', rank: 0, token }],
        'studio-2': [{ state: 'joined', rank: 1, ...second }],
        'studio-3': [{ state: 'joined', rank: 2 }],
      } as const;
      return meshOf({ ranks }).isAnswering;
    };
    expect(isAnswering({})).toBe(true);
    expect(isAnswering({ state: 'exited' })).toBe(false);
    expect(isAnswering({ state: 'ready' })).toBe(false);
    // A job missing from launchd may still have a process, and a different start proves nothing about this one.
    expect(isAnswering({ state: 'stopped' })).toBe(true);
    expect(isAnswering({ state: 'exited', generation: 9 })).toBe(true);
    expect(isAnswering({ state: 'ready', digest: 'of another file' })).toBe(true);
  });

  it('may be answering other requests after a timeout if every rank has joined', () => {
    const late = {
      token: { kind: 'silent', reason: 'none came before the deadline of 20 s', isTimeout: true },
    } as const;
    const joined = meshOf({ ranks: threeRanks(['joined', 'joined', 'joined'], late) });
    expect(joined).toMatchObject({ state: 'hung', isAnswering: true });
    expect(joined.evidence).toBe('no token: none came before the deadline of 20 s; it is hung or busy');
    const loading = meshOf({ ranks: threeRanks(['joined', 'joined', 'running'], late) });
    expect([loading.isAnswering, loading.evidence.includes('busy')]).toEqual([false, false]);
    expect(meshOf({ ranks: threeRanks(['joined', 'joined', 'exited'], late) }).isAnswering).toBe(false);
    const refused = { token: { kind: 'silent', reason: 'the endpoint refused the connection' } } as const;
    expect(meshOf({ ranks: threeRanks(['joined', 'joined', 'joined'], refused) }).isAnswering).toBe(false);
  });

  it('is changed if it was started from a different file, even if it answers', () => {
    const ranks = threeRanks(['joined', 'joined', 'joined'], { digest: 'of old' });
    expect(meshOf({ ranks })).toMatchObject({ state: 'changed', isAnswering: true });
  });

  it('is changed if ranks of two starts run together', () => {
    const ranks = {
      ...threeRanks(['joined', 'joined', 'joined']),
      'studio-3': [{ state: 'joined', rank: 2, generation: 3 }] as const,
    };
    expect(verdict({ ranks })).toEqual(['changed', 'the ranks on studio-3 are from a different start than the leader']);
  });

  it('is changed if a running rank has no record', () => {
    const ranks = {
      ...threeRanks(['joined', 'joined', 'joined']),
      'studio-2': [{ state: 'running', lacks: 'record' }] as const,
    };
    expect(verdict({ ranks })).toEqual(['changed', 'a rank without a record runs on studio-2']);
  });

  it('is unknown, not dead, if a rank was not observed', () => {
    const ranks = threeRanks(['joined', 'exited', 'joined']);
    expect(meshOf({ ranks, unknown: { 'studio-3': { services: 'timed-out' } } })).toMatchObject({
      state: 'unknown',
      evidence: 'studio-3: a test',
      reason: 'timed-out',
    });
    expect(meshOf({ ranks, unknown: { 'studio-2': { placements: 'garbled' } } }).state).toBe('unknown');
    expect(meshOf({ ranks, unreachable: ['studio-1'] })).toMatchObject({ state: 'unknown', reason: 'unreachable' });
  });

  it('is unknown while the running leader was not asked for a token', () => {
    const ranks = threeRanks(['joined', 'joined', 'joined'], { token: { kind: 'not-asked' } });
    expect(meshOf({ ranks })).toMatchObject({ state: 'unknown', reason: 'not-asked' });
  });

  it("has a known state if launchd reports an idle rank's last exit", () => {
    const service = { label: 'dev.meshwright.rank.kimi', state: 'waiting' } as const;
    const seen = [{}, { state: 'unknown' }, { lastExit: '(never exited)' }, { lastExit: '1' }] as const;
    const verdicts = seen.map((changes) => {
      const values = { 'studio-2': { services: [{ ...service, ...changes }] } };
      return verdict({ ranks: threeRanks(['joined', 'exited', 'joined']), values }).join(': ');
    });
    expect(verdicts).toEqual([
      'unknown: studio-2: launchctl printed an unreadable state of dev.meshwright.rank.kimi.',
      'unknown: studio-2: launchctl printed an unreadable state of dev.meshwright.rank.kimi.',
      'partial: rank 1 on studio-2 was not started',
      'partial: rank 1 on studio-2 exited (1)',
    ]);
  });

  it('counts generations on nodes that the placement no longer uses', () => {
    const ranks = {
      ...threeRanks(['stopped', 'stopped', 'stopped']),
      'studio-4': [{ state: 'stopped', rank: 3, generation: 9 }] as const,
    };
    expect(meshOf({ ranks }).generation).toBe(9);
  });
});

describe('a rank reading', () => {
  const readingOf = (rack: MeshRack): unknown => {
    const [rank] = meshOf(rack).ranks;
    return rank?.seen.kind === 'known' ? rankReading(rank.seen.value) : rank?.seen.reason;
  };

  it.each(['stopped', 'ready', 'running', 'joined', 'exited'] as const)('has generation 4 and state %s', (state) => {
    expect(readingOf({ ranks: threeRanks([state, 'ready', 'ready']) })).toEqual({ generation: 4, state });
  });

  it('has generation 0 when the rank is absent', () => {
    expect(readingOf({ ranks: {} })).toEqual({ generation: 0, state: 'absent' });
  });

  it('detects a process by its port if its service file was deleted', () => {
    const joined = { 'studio-1': [{ state: 'joined', lacks: 'service' }] as const };
    expect(readingOf({ ranks: joined })).toEqual({ generation: 4, state: 'joined' });
    const stopped = { 'studio-1': [{ state: 'stopped', lacks: 'service' }] as const };
    expect(readingOf({ ranks: stopped })).toEqual({ generation: 4, state: 'stopped' });
  });

  it('counts a running follower as joined if it has no port of its own', () => {
    const changes = { port: 8_080 };
    const follower = { 'studio-1': [{ state: 'running', rank: 1, changes }] as const };
    expect(readingOf({ ranks: follower })).toEqual({ generation: 4, state: 'joined' });
    const leader = { 'studio-1': [{ state: 'running', rank: 0, changes }] as const };
    expect(readingOf({ ranks: leader })).toEqual({ generation: 4, state: 'running' });
    const without = { 'studio-1': [{ state: 'running', rank: 1, changes: { port: 0 } }] as const };
    expect(readingOf({ ranks: without })).toEqual({ generation: 4, state: 'joined' });
  });
});

onOnePage('read-mesh');
