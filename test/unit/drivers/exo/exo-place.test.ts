import { describe, expect, it } from 'vitest';
import { nodeName } from '../../../../src/model/node.ts';
import { asText } from '../../as-text.ts';
import { onOnePage } from '../../one-page.ts';
import { exoCase, ids } from './exo-case.ts';
import { instance, type JsonState, keyOf, loading, play, qwen, ready, stateWith, well } from './exo-play.ts';

describe('placing a model on exo', () => {
  it('maps the nodes, checks the mesh, posts the matching preview unchanged, and waits', () => {
    const steps = ['RunnerIdle', 'RunnerConnecting', 'RunnerConnected', 'RunnerLoaded', 'RunnerWarmingUp'];
    const { end, asked } = play(well([...steps.map((tag) => stateWith({ [tag]: {} })), ready]));
    expect(end).toEqual({ kind: 'done', note: 'Pipeline over MlxRing on 2 nodes' });
    expect(asked.slice(0, 6).map(keyOf)).toEqual([
      'studio-1 GET /node_id',
      'studio-2 GET /node_id',
      'studio-1 GET /state',
      'studio-1 GET /models',
      'studio-1 GET /instance/previews',
      'studio-1 POST /instance',
    ]);
    expect(asked[4]?.path).toBe(
      `/instance/previews?model_id=${encodeURIComponent(qwen)}&node_ids=${ids[0]}&node_ids=${ids[1]}`,
    );
    expect(JSON.parse(asked[5]?.body ?? '')).toEqual({ instance });
    expect(asked.every(({ port }) => port === 52_500)).toBe(true);
  });

  it('waits for the API to appear, and gives up after a minute', () => {
    const answer = well([ready]);
    const late = play((request, count) => (request.path === '/node_id' && count < 20 ? 0 : answer(request)));
    expect([late.end.kind, late.asked.filter(({ path }) => path === '/node_id').length]).toEqual(['done', 42]);
    const never = play(() => 0);
    expect(never.end).toMatchObject({ code: 'exo/no-identity', reason: 'studio-1: its API does not answer' });
    expect(Math.round(never.atMs / 1_000)).toBe(61);
  });

  it('refuses two nodes with the same exo id', () => {
    expect(play(well([ready], { 'GET /node_id': JSON.stringify(ids[0]) })).end).toMatchObject({
      code: 'exo/no-identity',
      reason: `studio-2 and studio-1 have the same exo id: ${ids[0]}`,
    });
  });

  it.each([
    ['a node is missing', (state: JsonState) => state.topology.nodes.pop(), 'exo does not see studio-2'],
    [
      'a foreign node is present',
      (state: JsonState) => state.topology.nodes.push('beef'),
      'exo sees nodes outside this placement: beef',
    ],
    [
      "a node's memory is unknown",
      (state: JsonState) => {
        state['nodeMemory'] = {};
      },
      'exo has not yet measured the memory of studio-1, studio-2',
    ],
    [
      'a cable works in only one direction',
      (state: JsonState) => {
        const connections = (state.topology as unknown as { connections: Record<string, unknown> }).connections;
        delete connections[ids[1]];
      },
      'exo sees studio-2 from studio-1, but not the reverse',
    ],
  ])('gives up after two minutes if %s', (_, change, reason) => {
    const { end, atMs } = play(well([ready], { 'GET /state': stateWith(undefined, change) }));
    expect(end).toEqual({ kind: 'failed', code: 'exo/mesh-incomplete', reason });
    expect(Math.round(atMs / 1_000)).toBe(122);
  });

  it('requires RDMA in both directions if it is declared', () => {
    const state = stateWith(undefined).replaceAll('sourceRdmaIface', 'elsewhere');
    const { end } = play(well([ready], { 'GET /state': state }), { meta: 'MlxJaccl' });
    expect(end).toMatchObject({ reason: 'exo sees no RDMA from studio-1 to studio-2' });
  });

  it('adds a model that exo does not know, and reports why it is refused', () => {
    const unknown = { 'GET /models': '{"object":"list","data":[]}' };
    const { end, asked } = play(well([ready], { ...unknown, 'POST /models/add': '{}' }));
    expect(end.kind).toBe('done');
    expect(asked.filter(({ path }) => path === '/models/add').map((one) => one.body)).toEqual([
      JSON.stringify({ model_id: qwen }),
    ]);
    const error = { status: 400, body: exoCase('models-add.error-400.json') };
    expect(play(well([ready], { ...unknown, 'POST /models/add': error })).end).toMatchObject({
      code: 'exo/model-refused',
      reason: expect.stringContaining('model.safetensors.index.json'),
    });
  });

  describe('after a slow model addition', () => {
    const empty = '{"object":"list","data":[]}';
    const adds = (asked: readonly { path: string }[]) => asked.filter(({ path }) => path === '/models/add');

    it('reads the model list again instead of asking a second time', () => {
      const answer = well([ready], { 'POST /models/add': 0 });
      const { end, asked } = play((request, count) =>
        request.path === '/models' && count === 0 ? empty : answer(request),
      );
      expect(end.kind).toBe('done');
      expect(adds(asked)).toMatchObject([{ limitMs: 60_000 }]);
    });

    it('asks again while the model is not listed, and gives up after two minutes', () => {
      const { end, asked, atMs } = play(well([ready], { 'GET /models': empty, 'POST /models/add': 0 }));
      expect(end).toMatchObject({ reason: `exo did not answer the request to add ${qwen}` });
      expect(adds(asked).length).toBeGreaterThan(1);
      expect(Math.round(atMs / 1_000)).toBeGreaterThanOrEqual(120);
    });

    it('reports an unreadable list if exo never returns it', () => {
      const { end } = play(well([ready], { 'GET /models': 500 }));
      expect(end).toMatchObject({ reason: 'its model list cannot be read (status 500)' });
    });
  });

  it("keeps an interrupted run's matching instance", () => {
    const { end, asked } = play(well([], { 'GET /state': ready }));
    expect([end.kind, asked.filter(({ method }) => method !== 'GET')]).toEqual(['done', []]);
  });
});

describe('earlier instances', () => {
  const id = 'e1a6d2c4-92b7-4c0b-8f6e-0d7a35c9be12';
  const stale = JSON.parse(JSON.stringify(loading()).replaceAll('Pipeline', 'Tensor')) as JsonState;
  const [old] = Object.values(stale.instances);
  const second = JSON.parse(JSON.stringify(old).replaceAll(id, 'f0'));
  const staleTwo = JSON.stringify({ ...stale, instances: { [id]: old, f0: second } });

  it('are deleted, and may take a long time to disappear without shortening later deadlines', () => {
    const answer = well([ready]);
    let offers = 0;
    const { end, asked } = play((request) => {
      if (request.method === 'GET' && request.path === '/state' && offers < 40) return staleTwo;
      if (request.path.startsWith('/instance/previews')) {
        offers += 1;
        return offers < 40 ? 500 : answer(request);
      }
      return answer(request);
    });
    expect(end.kind).toBe('done');
    expect(asked.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
      `/instance/${id}`,
      '/instance/f0',
    ]);
  });
});

describe('a refused placement on exo', () => {
  it('is reported with the reason from the previews', () => {
    const { end, atMs } = play(well([ready]), {
      sharding: 'Tensor',
      meta: 'MlxRing',
      modelId: 'mlx-community/Kimi-K2-Thinking',
    });
    expect(end).toMatchObject({ code: 'exo/placement-refused' });
    expect(Math.round(atMs / 1_000)).toBe(64);
  });

  it.each([
    ['instance-create.error-memory.json', 400, 'status 400: Insufficient memory'],
    ['instance-create.error-422.json', 422, 'status 422: body.instance: Field required'],
  ])("is reported with the answer's text (%s)", (name, status, reason) => {
    const { end } = play(well([ready], { 'POST /instance': { status, body: exoCase(name) } }));
    expect(end).toMatchObject({ code: 'exo/placement-refused', reason: expect.stringContaining(reason) });
  });

  it('is reported if exo accepted the command without effect', () => {
    expect(play(well([stateWith(undefined)])).end).toMatchObject({
      code: 'exo/placement-refused',
      reason: 'exo accepted the placement but did not create it; see its log',
    });
  });
});

const layers = (loaded: number): string => stateWith({ RunnerLoading: { layersLoaded: loaded, totalLayers: 47 } });

describe('exo runners', () => {
  it('may load as long as they make progress', () => {
    const each = (seconds: number) => Array.from({ length: 6 * seconds }, (_, at) => layers(Math.floor(at / seconds)));
    expect(play(well([...each(120), ready])).end.kind).toBe('done');
    expect(play(well([...each(160), ready])).end).toMatchObject({ code: 'exo/stuck' });
  });

  it.each([
    ['connect', stateWith({ RunnerConnecting: {} }), 60],
    ['load', layers(3), 149],
    ['warm up', stateWith({ RunnerWarmingUp: {} }), 180],
  ])('are deleted after a deadline if they %s without progress', (_, state, seconds) => {
    const { end, asked, atMs } = play(well([state]));
    expect(end).toMatchObject({ code: 'exo/stuck', reason: expect.stringContaining(`no progress for ${seconds}`) });
    expect(asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    expect(atMs / 1_000).toBeLessThan(seconds + 60);
  });

  it('are not awaited after a failure that will recur', () => {
    const message =
      'Terminated (exitcode=1\nRunner error: ValueError: [jaccl] Changing queue pair to RTR failed with errno 96\n)';
    const { end, asked } = play(well([stateWith({ RunnerFailed: { errorMessage: message, diagnostics: [] } })]));
    expect(asText(end)).toMatchObject({
      code: 'exo/runner-failed',
      hint: expect.stringContaining('meshwright reboot'),
    });
    expect(asked.filter(({ path }) => path === '/state').length).toBeLessThan(40);
  });

  it("get exo's retries after any other failure", () => {
    const failed = stateWith({ RunnerFailed: { errorMessage: 'Out of luck' } });
    expect(play(well([failed, stateWith({ RunnerIdle: {} }), ready])).end.kind).toBe('done');
    expect(play(well([failed])).end).toMatchObject({
      code: 'exo/runner-failed',
      reason: 'a runner failed: Out of luck',
    });
    expect(play(well([failed, stateWith(undefined)])).end).toMatchObject({
      code: 'exo/runner-failed',
      reason: 'exo deleted the instance itself; last state: a runner failed: Out of luck',
    });
  });

  it("are lost if their master's state starts from scratch", () => {
    const anew = stateWith(undefined, (state) => {
      state['lastEventAppliedIdx'] = 1;
    });
    expect(play(well([layers(3), anew])).end).toMatchObject({
      code: 'exo/master-lost',
      reason: 'the exo master changed and lost all placements; last state: layers loaded: 3 of 47, 3 of 47',
    });
    const alone = stateWith(undefined, (state) => state.topology.nodes.pop());
    expect(play(well([layers(3), alone])).end).toMatchObject({
      code: 'exo/master-lost',
      reason: expect.stringMatching(/^studio-2 left the mesh; last state: /),
    });
  });

  it('fail immediately if their node lacks model files', () => {
    const [complete] = Object.values(loading()['downloads'] as Record<string, object[]>);
    const shard = (complete?.[0] as { DownloadCompleted: object } | undefined)?.DownloadCompleted;
    const state = stateWith({ RunnerIdle: {} }, (one) => {
      one['downloads'] = { [ids[1]]: [{ DownloadFailed: { ...shard, errorMessage: 'offline' } }] };
    });
    expect(play(well([state])).end).toMatchObject({
      code: 'exo/runner-failed',
      reason: 'studio-2 is missing files from the model: offline',
    });
  });

  it('are deleted if the API stops answering', () => {
    const { end, asked } = play(well([layers(3), 0]));
    expect(end).toMatchObject({ code: 'exo/stuck', reason: expect.stringContaining('answer') });
    expect(asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it('survive occasional failed answers', () => {
    const warming = stateWith({ RunnerWarmingUp: {} });
    const long = Array.from({ length: 70 }, () => warming);
    expect(play(well([...long, 0, warming, 500, warming, ready])).end.kind).toBe('done');
    expect(play(well([...long, ...Array.from({ length: 50 }, () => 0), ready])).end.kind).toBe('done');
  });

  it('are checked only if the instance names them, and former nodes are only mentioned', () => {
    const ghosts = stateWith({ RunnerReady: {} }, (state) => {
      state.runners = { ...state.runners, 'of-old': { RunnerFailed: { errorMessage: 'long ago' } } };
      state['nodeIdentities'] = { [ids[0]]: {}, [ids[1]]: {}, ghost: {} };
    });
    expect(play(well([ghosts])).end).toEqual({
      kind: 'done',
      note: 'Pipeline over MlxRing on 2 nodes; exo still lists 1 former node',
    });
  });
});

describe('an exo ring over TCP', () => {
  const [first, second] = [nodeName('studio-1'), nodeName('studio-2')];
  const cablesAt = (ofFirst: string, ofSecond: string) => ({
    cables: [
      { from: first, to: second, addresses: [ofSecond] },
      { from: second, to: first, addresses: [ofFirst] },
    ],
  });
  const offered = exoCase('previews-no-rdma.json');
  const at = (ip: string): string => offered.replaceAll('"10.99.1.2"', `"${ip}"`);

  it('is placed if it uses the declared cables', () => {
    expect(play(well([ready]), cablesAt('10.99.1.1', '10.99.1.2')).end).toEqual({
      kind: 'done',
      note: 'Pipeline over MlxRing on 2 nodes',
    });
  });

  it('is refused after a minute over a different network, and never posted', () => {
    const offCables = play(
      well([ready], { 'GET /instance/previews': at('192.168.1.12') }),
      cablesAt('10.99.1.1', '10.99.1.2'),
    );
    expect(offCables.end).toEqual({
      kind: 'failed',
      code: 'exo/ring-off-cables',
      reason: 'its ring connects studio-1 to studio-2 at 192.168.1.12 instead of over the cable (10.99.1.2)',
    });
    expect(offCables.asked.some(({ method }) => method === 'POST')).toBe(false);
    expect(offCables.atMs).toBeGreaterThan(60_000);
  });

  // Published in exo issues 2309 and 2310, with other addresses.
  it.each([
    [
      'a node dials the office network',
      [
        ['0.0.0.0', '10.77.0.2'],
        ['192.0.2.30', '0.0.0.0'],
      ],
      'studio-2 to studio-1 at 192.0.2.30 instead of over the cable (10.77.0.1)',
    ],
    [
      'both nodes have an address at their own place',
      [
        ['192.0.2.30', '192.0.2.31'],
        ['10.10.0.2', '10.10.0.1'],
      ],
      'studio-1 to studio-2 at 192.0.2.31 instead of over the cable (10.77.0.2), studio-2 to studio-1 at 10.10.0.2 instead of over the cable (10.77.0.1)',
    ],
  ])('is refused in a published case: %s', (_what, lists, ways) => {
    const hostsByNode = Object.fromEntries(
      lists.map((hosts, at) => [ids[at], hosts.map((ip) => ({ ip, port: 50_000 }))]),
    );
    const previews = JSON.stringify(JSON.parse(offered), (key, value) => (key === 'hostsByNode' ? hostsByNode : value));
    const { end } = play(well([ready], { 'GET /instance/previews': previews }), cablesAt('10.77.0.1', '10.77.0.2'));
    expect(end).toMatchObject({ code: 'exo/ring-off-cables', reason: `its ring connects ${ways}` });
  });

  it('is refused if it does not run over the cables, even if each node lists an address for itself', () => {
    const previews = at('192.168.1.12').replaceAll(/"(?:0\.0\.0\.0|10\.99\.1\.1)"/g, '"192.168.1.11"');
    const { end } = play(well([ready], { 'GET /instance/previews': previews }), cablesAt('10.99.1.1', '10.99.1.2'));
    expect(end).toMatchObject({
      code: 'exo/ring-off-cables',
      reason: expect.stringMatching(
        /studio-1 to studio-2 at 192\.168\.1\.12 .*studio-2 to studio-1 at 192\.168\.1\.11/,
      ),
    });
  });

  it('is placed once exo has found the cables', () => {
    const answer = well([ready]);
    const slow = play(
      (request, count) =>
        request.path.startsWith('/instance/previews') && count < 9 ? at('192.168.1.12') : answer(request),
      cablesAt('10.99.1.1', '10.99.1.2'),
    );
    expect(slow.end.kind).toBe('done');
  });

  it('is placed even if it is unknown whether it uses cables', () => {
    expect(play(well([ready]), { cables: [] }).end).toMatchObject({
      kind: 'done',
      note: expect.stringMatching(/; unknown whether these use a cable: studio-\d to studio-\d at 10\.99\.1\.\d, /),
    });
    const nowhere = ready.replaceAll(/"(?:0\.0\.0\.0|10\.99\.1\.\d)"/g, 'null');
    expect(play(well([nowhere]), cablesAt('10.99.1.1', '10.99.1.2')).end).toMatchObject({
      note: 'Pipeline over MlxRing on 2 nodes; unknown whether its ring uses the cables',
    });
    const linkLocal = well([ready], { 'GET /instance/previews': at('169.254.7.1') });
    expect(play(linkLocal, cablesAt('10.99.1.1', '10.99.1.2')).end.kind).toBe('done');
  });
});

onOnePage('exo-place');
