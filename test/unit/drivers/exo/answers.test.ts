import { describe, expect, it } from 'vitest';
import {
  parseModelIds as parseModelIdsItself,
  parseNodeId,
  parsePreviews as parsePreviewsItself,
  parseState as parseStateItself,
  refusalText as refusalTextItself,
} from '../../../../src/drivers/exo/answers.ts';
import { onOnePage, onPage } from '../../one-page.ts';
import { exoCase, ids } from './exo-case.ts';

const parseModelIds = onPage(parseModelIdsItself);
const parsePreviews = onPage(parsePreviewsItself);
const parseState = onPage(parseStateItself);
const refusalText = onPage(refusalTextItself);

const stateOf = (name: string) => {
  const state = parseState(exoCase(name));
  if (state === undefined) throw new Error(`${name} could not be read`);
  return state;
};

describe("exo's state", () => {
  it('is read in both dialects', () => {
    const main = stateOf('state-2node-ring-pipeline-loading.json');
    const release = stateOf('state-2node-ring-ready.v1.0.71.json');
    expect(main.instances).toMatchObject([
      { tag: 'MlxRingInstance', shardTags: ['PipelineShardMetadata', 'PipelineShardMetadata'] },
    ]);
    expect(Object.values(main.runners)).toEqual([
      { kind: 'loading', layers: 31, of: 47 },
      { kind: 'loading', layers: 12, of: 47 },
    ]);
    expect(release.topology.nodes.map((id) => id.slice(0, 8))).toEqual(['12D3KooW', '12D3KooW']);
    expect(Object.values(release.runners)).toEqual([{ kind: 'ready' }, { kind: 'ready' }]);
    expect([main.eventIndex > 0, release.eventIndex]).toEqual([true, 512]);
  });

  it('lists RDMA between nodes by direction', () => {
    const count = (name: string) => {
      const { topology } = stateOf(name);
      return [topology.nodes.length, topology.sockets.size, topology.rdma.size];
    };
    expect(count('state-4node-mesh-idle.json')).toEqual([4, 12, 12]);
    expect(count('state-4node-one-rdma-disabled.json')).toEqual([4, 12, 6]);
    expect(stateOf('state-2node-ring-pipeline-loading.json').topology.rdma).toEqual(
      new Set([`${ids[0]} ${ids[1]}`, `${ids[1]} ${ids[0]}`]),
    );
  });

  it('counts only nodes in the topology as alive, whatever identities remain', () => {
    const { topology, identities } = stateOf('state-2node-ghost-identities.json');
    expect([topology.nodes.length, identities.length]).toEqual([2, 4]);
  });

  it('includes failure messages', () => {
    const { runners } = stateOf('state-2node-jaccl-failed-errno96.json');
    expect(Object.values(runners)).toMatchObject([
      { kind: 'failed', message: expect.stringContaining('errno 96') },
      { kind: 'failed', message: expect.stringContaining('errno 96') },
    ]);
    expect(stateOf('state-3node-downloading.json').failedDownloads).toMatchObject([
      { modelId: 'mlx-community/Kimi-K2-Thinking', message: expect.stringContaining('authentication') },
    ]);
  });

  it.each([
    '',
    '[]',
    '{}',
    '{"topology":{}}',
    '{"topology":{"nodes":[],"connections":{}},"instances":[],"runners":{}}',
  ])('is undefined for %j', (body) => expect(parseState(body)).toBeUndefined());

  it('is undefined if an instance cannot be read', () => {
    const broken = exoCase('state-2node-ring-pipeline-loading.json').replaceAll('"instanceId"', '"instance"');
    expect(parseState(broken)).toBeUndefined();
  });
});

describe('other answers from exo', () => {
  it('contain an id as bare JSON text', () => {
    expect(parseNodeId(exoCase('node-id.json'))).toBe(ids[0]);
    expect(['{"node_id":"7c1f0a94b2d84e6f9a3d5be2471c08fd"}', '"a b"', '"x&y=1"', ''].map(parseNodeId)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('list models by their full names', () => {
    expect(parseModelIds(exoCase('models.json'))).toContain('mlx-community/Llama-3.2-1B-Instruct-4bit');
    expect(parseModelIds('{"data":[{"name":"x"}]}')).toBeUndefined();
  });

  it('list previews with or without an instance', () => {
    const all = parsePreviews(exoCase('previews-4node-kimi.json'));
    expect(all?.map(({ instance }) => Object.keys(instance?.runnerByNode ?? {}).length)).toEqual([
      2, 3, 4, 2, 3, 4, 2, 4, 2, 4,
    ]);
    expect(parsePreviews(exoCase('previews-empty.json'))).toEqual([]);
    expect(parsePreviews(exoCase('previews-insufficient-memory.json'))?.[0]).toEqual({
      sharding: 'Pipeline',
      meta: 'MlxRing',
      error: 'No cycles found with sufficient memory',
    });
    expect(parsePreviews('{"previews":[{"sharding":"Tensor"}]}')).toBeUndefined();
  });

  it('contain the reason for a refusal in both forms', () => {
    expect(refusalText(exoCase('instance-create.error-memory.json'))).toMatch(/^Insufficient memory/);
    expect(refusalText(exoCase('instance-create.error-422.json'))).toBe('body.instance: Field required');
    expect(refusalText('<html>')).toBe('no reason given');
  });
});

onOnePage('answers');
