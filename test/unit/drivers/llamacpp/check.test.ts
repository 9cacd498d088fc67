import { describe, expect, it } from 'vitest';
import { checkPlacement as checkPlacementItself } from '../../../../src/rack/placement/check/placement-checks.ts';
import { fileAt, type LlamaChanges, llamaFleet } from '../../../rack/placements.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const checkPlacement = onPage(checkPlacementItself);

/** Codes and details, except those about memory, which is unknown here. */
function found(changes: LlamaChanges = {}): readonly (readonly [string, string])[] {
  const fleet = llamaFleet(changes);
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the fleet has no placement');
  return checkPlacement(kimi, fleet)
    .filter(({ code }) => code !== 'placement/memory-unknown')
    .map(({ code, detail }) => [code, detail]);
}

describe('a placement on llama.cpp', () => {
  it('is accepted with a cable from the leader to each worker and one GGUF', () => {
    expect(found()).toEqual([]);
  });

  it('is refused with tensor sharding', () => {
    expect(found({ placement: { sharding: 'tensor' } })).toEqual([
      ['llama/not-by-tensor', 'kimi sets sharding: tensor.'],
    ]);
  });

  it('needs exactly one GGUF', () => {
    expect(found({ files: [fileAt('model.safetensors')] })).toEqual([
      ['llama/no-gguf', 'None of the 1 files of tiny is a .gguf.'],
    ]);
    expect(found({ files: [fileAt('q4.gguf'), fileAt('q8.gguf')] })).toEqual([
      ['llama/several-ggufs', 'The .gguf files of tiny: q4.gguf, q8.gguf.'],
    ]);
    expect(found({ files: [] })).toEqual([]);
  });

  it('needs exactly one GGUF for its drafter, too', () => {
    const nodes = llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [];
    const drafted = (...files: readonly string[]) => found({ placement: { nodes }, drafterFiles: files.map(fileAt) });
    expect(drafted('small.gguf')).toEqual([]);
    expect(drafted('small.bin')).toEqual([['llama/no-gguf', 'None of the 1 files of small is a .gguf.']]);
    expect(drafted('a.gguf', 'b.gguf')).toEqual([['llama/several-ggufs', 'The .gguf files of small: a.gguf, b.gguf.']]);
  });

  it('keeps the options about its drafter to the driver, which others may set', () => {
    const nodes = llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [];
    const placement = { nodes, args: ['--spec-type', 'ngram-mod', '-ngld', '0'], env: { LLAMA_ARG_SPEC_TYPE: 'none' } };
    expect(found({ placement })).toEqual([]);
    expect(found({ placement, drafterFiles: [fileAt('small.gguf')] })).toEqual([
      ['placement/reserved-word', 'The driver sets LLAMA_ARG_SPEC_TYPE itself.'],
      ['placement/reserved-word', 'The driver sets --spec-type itself.'],
      ['placement/reserved-word', 'The driver sets -ngld itself.'],
    ]);
  });

  it('needs a cable from the leader to each worker', () => {
    const without = (text: string): boolean => !text.includes('studio-3');
    expect(found({ links: without })).toEqual([
      ['llama/no-cable', 'No link connects the leader studio-1 to studio-3.'],
    ]);
  });

  it('is refused with options that the driver sets', () => {
    const placement = {
      args: ['--tensor-split=1,2', '--metrics', '-fit', 'on'],
      env: { GGML_RPC_NO_RDMA: '0', A: 'b', LLAMA_ARG_N_GPU_LAYERS: '0' },
    };
    expect(found({ placement })).toEqual([
      ['placement/reserved-word', 'The driver sets GGML_RPC_NO_RDMA itself.'],
      ['placement/reserved-word', 'The driver sets LLAMA_ARG_N_GPU_LAYERS itself.'],
      ['placement/reserved-word', 'The driver sets --tensor-split itself.'],
      ['placement/reserved-word', 'The driver sets -fit itself.'],
    ]);
  });
});

onOnePage('check');
