import { afterEach, describe, expect, it } from 'vitest';
import { type ExoState, parseState } from '../../src/drivers/exo/answers.ts';
import { eventually } from '../rack/running.ts';
import { sampleOf } from '../sample.ts';
import { exoCase } from '../unit/drivers/exo/exo-case.ts';
import { type Dialect, type Doubles, makeDoubles, modelId, type Name, names } from './exo-doubles.ts';

let doubles: Doubles | undefined;
afterEach(() => doubles?.close());

/** Starts both doubles, with the lines of their control files in place from the start. */
async function started(
  dialect: Dialect,
  faults: Readonly<Partial<Record<Name, readonly string[]>>> = {},
): Promise<Doubles> {
  doubles = await makeDoubles(dialect);
  for (const name of names) await doubles.fault(name, ...(faults[name] ?? []));
  doubles.start('studio-1');
  doubles.start('studio-2');
  return doubles;
}

const stateOf = async (rack: Doubles): Promise<ExoState> => {
  const { body } = await rack.ask('studio-1', { method: 'GET', path: '/state' });
  const state = parseState(body);
  if (state === undefined) throw new Error(`no state: ${body.slice(0, 200)}`);
  return state;
};

const chat = (rack: Doubles, { model = modelId, limitMs = 20_000 } = {}) =>
  rack.ask('studio-1', {
    limitMs,
    method: 'POST',
    path: '/v1/chat/completions',
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });

/** Every key path in a value, with a common name for ids, ranks and addresses. */
function shapeOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => shapeOf(one, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, one]) => shapeOf(one, `${path}.${nameOf(key)}`));
}

const nameOf = (key: string): string => (/^[0-9a-f-]{32,36}$|^12D3Koo/.test(key) ? '*' : key);

const shape = (text: string): ReadonlySet<string> => new Set(shapeOf(JSON.parse(text)));

const dialects = sampleOf(['1.0.71', 'main'] as const, { few: 1, oneIn: 2 });

describe.each(dialects)('the exo double, dialect %s', (dialect) => {
  it('reports states and previews in the same shape as exo', async () => {
    const rack = await started(dialect);
    await rack.talk({ sharding: 'Pipeline', meta: 'MlxRing' });
    const { body } = await rack.ask('studio-1', { method: 'GET', path: '/state' });
    const real = dialect === 'main' ? 'state-2node-ring-pipeline-loading.json' : 'state-2node-ring-ready.v1.0.71.json';
    const known = new Set([...shape(exoCase(real)), ...shape(exoCase('state-4node-jaccl-tensor-ready.json'))]);
    const ours = [...shape(body)].filter((one) => !one.startsWith('.customModelCards'));
    expect(ours.filter((one) => !known.has(one))).toEqual([]);
    expect(ours.some((one) => one.includes('backends'))).toBe(dialect === 'main');
    const previews = await rack.ask('studio-1', { method: 'GET', path: `/instance/previews?model_id=${modelId}` });
    const shown = new Set(
      ['previews-no-rdma.json', 'previews-4node-kimi.json'].flatMap((name) => [...shape(exoCase(name))]),
    );
    expect([...shape(previews.body)].filter((one) => !shown.has(one))).toEqual([]);
  });
});

describe('the exo double', () => {
  it('offers a one-node ring as tensor over RDMA', async () => {
    const rack = await started('main');
    await rack.talk();
    const { body } = await rack.ask('studio-1', { method: 'GET', path: `/instance/previews?model_id=${modelId}` });
    const tagged = JSON.parse(body).previews.filter(
      (one: { sharding: string; instance_meta: string }) =>
        one.sharding === 'Tensor' && one.instance_meta === 'MlxJaccl',
    );
    expect(tagged.map(({ instance }: { instance: object }) => Object.keys(instance)[0])).toEqual([
      'MlxRingInstance',
      'MlxJacclInstance',
    ]);
  });

  it('refuses unknown fields', async () => {
    const rack = await started('1.0.71');
    await rack.talk();
    const previews = await rack.ask('studio-1', { method: 'GET', path: `/instance/previews?model_id=${modelId}` });
    const { instance } = JSON.parse(previews.body).previews.at(-1);
    const text = JSON.stringify({ instance }).replaceAll('"usesCfg"', '"backends":["MlxMetal"],"usesCfg"');
    const { status, body } = await rack.ask('studio-1', { method: 'POST', path: '/instance', body: text });
    expect([status, body]).toEqual([422, expect.stringContaining('extra_forbidden')]);
  });

  it('makes no progress while its runners do not connect, so that the dialogue gives up', async () => {
    const rack = await started('main', { 'studio-1': ['stuck-connect'], 'studio-2': ['stuck-connect'] });
    const reason = expect.stringContaining('while the runners were connecting');
    expect(await rack.talk({}, 'runners are connected')).toMatchObject({ code: 'exo/stuck', reason });
    expect((await stateOf(rack)).instances).toEqual([]);
  });

  it('loses a placement if its session ends while placing it', async () => {
    const rack = await started('main', { 'studio-1': ['stuck-warmup', 'session 1'], 'studio-2': ['stuck-warmup'] });
    const talk = rack.talk();
    expect(
      await eventually(async () =>
        (await rack.ask('studio-1', { method: 'GET', path: '/state' })).body.includes('RunnerWarmingUp'),
      ),
    ).toBe(true);
    await rack.fault('studio-1', 'stuck-warmup', 'session 2');
    expect(await talk).toMatchObject({ code: 'exo/master-lost' });
  });

  it('lists former nodes and stale runners, which the dialogue tolerates', async () => {
    const rack = await started('main', { 'studio-1': ['ghosts 2', 'stale-runner'] });
    expect(await rack.talk()).toEqual({
      kind: 'done',
      note: 'Tensor over MlxJaccl on 2 nodes; exo still lists 2 former nodes',
    });
  });

  it('gives no answer if one node is dead', async () => {
    const rack = await started('main');
    await rack.talk();
    await rack.stop('studio-2', 'SIGKILL');
    expect(await eventually(async () => (await chat(rack, { limitMs: 3_000 })).status !== 200)).toBe(true);
  });

  it('waits for its peer if it sees no other node', async () => {
    const rack = await started('main', { 'studio-2': ['alone'] });
    const still = 'exo does not see studio-2';
    expect(await rack.talk({}, still)).toMatchObject({ code: 'exo/mesh-incomplete', reason: still });
  });

  it.each([
    ['main', { env: { EXO_LIBP2P_NAMESPACE: 'x' } }, 1, 'EXO_LIBP2P_NAMESPACE has been removed'],
    ['main', { words: ['--bootstrap-peers', 'x'] }, 1, 'Bootstrap peers has been temporarily removed'],
    ['main', { words: ['--libp2p-port', '5'] }, 2, 'unrecognized arguments: --libp2p-port'],
    ['1.0.71', { words: ['--namespace', 'x'] }, 2, 'unrecognized arguments: --namespace'],
    ['1.0.71', { env: { HOME: '/dev/null/x' } }, 1, 'PermissionError'],
  ] as const)('exits like exo %s with %j', async (dialect, start, code, output) => {
    doubles = await makeDoubles(dialect);
    doubles.start('studio-1', start);
    const end = await doubles.ended('studio-1');
    expect([end.code, end.output]).toEqual([code, expect.stringContaining(output)]);
  });

  it('runs only once per home', async () => {
    const rack = await started('main');
    expect(
      await eventually(async () => (await rack.ask('studio-1', { method: 'GET', path: '/node_id' })).status === 200),
    ).toBe(true);
    rack.start('studio-1');
    expect((await rack.ended('studio-1')).output).toContain('already running');
  });
});
