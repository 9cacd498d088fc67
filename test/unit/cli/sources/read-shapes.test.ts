import { describe, expect, it } from 'vitest';
import { readersOf, readNodeShape } from '../../../../src/cli/sources/read-shapes.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { LlamaRuntime } from '../../../../src/drivers/llamacpp/runtime.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet } from '../../../rack/placements.ts';

const llama: LlamaRuntime = {
  name: 'reference',
  archive: '/dist/llama.tar.gz',
  sha256: digestOf('x'),
  digest: digestOf('x'),
  extras: [],
  driver: 'llamacpp-rpc',
  server: 'a',
  worker: 'b',
  cache: 'none',
};

/** The nodes whose model files are read for a mesh on three nodes. */
function askedOf(fleet = meshFleet(), names: readonly string[] = []): readonly string[] {
  const [placement] = fleet.placements;
  const readers = readersOf(fleet, { name: placement?.model ?? '' }, { names, labels: [] });
  return readers.map(({ name }) => name);
}

describe("the nodes asked for a model's files", () => {
  it('are the nodes that load the model', () => {
    expect(askedOf()).toEqual(['studio-1', 'studio-2', 'studio-3']);
    expect(askedOf({ ...meshFleet(), runtimes: [llama] })).toEqual(['studio-1']);
    expect(askedOf({ ...meshFleet(), placements: [] })).toEqual([]);
    const drafted = meshFleet({ placement: { drafter: 'small' } });
    expect(readersOf(drafted, { name: 'small' }, { names: [], labels: [] })).toHaveLength(3);
  });

  it('exclude nodes that the options leave out', () => {
    expect(askedOf(meshFleet(), ['studio-2'])).toEqual(['studio-2']);
    expect(askedOf({ ...meshFleet(), runtimes: [llama] }, ['studio-2'])).toEqual([]);
  });
});

describe('the shape of a model whose nodes do not answer', () => {
  it("is unknown, with each node's reason", async () => {
    const [model] = meshFleet().models;
    if (model === undefined) throw new Error('the fleet has no model');
    const limits = { connectMs: 1, deadlineMs: 1, signal: new AbortController().signal };
    const ways = ['studio-1', 'studio-2'].map((node) => ({
      node: nodeName(node),
      way: { kind: 'no-way', diagnostics: [diagnose('ssh/unreachable', { detail: 'It is off.' })] } as const,
    }));
    const onNode = { ...model, source: { kind: 'node', folder: '/Volumes/shelf' } } as const;
    const unknown = (why: string) => ({ kind: 'unknown', why });
    expect(await readNodeShape(ways, onNode, limits)).toEqual(unknown('studio-1 and studio-2 not reached'));
    expect(await readNodeShape([], onNode, limits)).toEqual(unknown('none of the selected nodes loads it'));
  });
});
