import { describe, expect, it } from 'vitest';
import { checkPlacement as checkPlacementItself } from '../../../../src/rack/placement/check/placement-checks.ts';
import { fileAt, type LlamaChanges, llamaFleet } from '../../../rack/placements.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const checkPlacement = onPage(checkPlacementItself);

/** The codes of all findings, except those about memory, which is unknown here. */
function found(changes: LlamaChanges = {}): readonly string[] {
  const fleet = llamaFleet(changes);
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the fleet has no placement');
  return checkPlacement(kimi, fleet).flatMap(({ code }) => (code === 'placement/memory-unknown' ? [] : [code]));
}

describe('a placement on llama.cpp', () => {
  it('is accepted with a cable from the leader to each worker and one GGUF', () => {
    expect(found()).toEqual([]);
  });

  it('is refused with tensor sharding', () => {
    expect(found({ placement: { sharding: 'tensor' } })).toEqual(['llama/not-by-tensor']);
  });

  it('needs exactly one GGUF', () => {
    expect(found({ files: [fileAt('model.safetensors')] })).toEqual(['llama/no-gguf']);
    expect(found({ files: [fileAt('q4.gguf'), fileAt('q8.gguf')] })).toEqual(['llama/several-ggufs']);
    expect(found({ files: [] })).toEqual([]);
  });

  it('needs exactly one GGUF for its drafter, too', () => {
    const nodes = llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [];
    const drafted = (...files: readonly string[]) => found({ placement: { nodes }, drafterFiles: files.map(fileAt) });
    expect(drafted('small.gguf')).toEqual([]);
    expect(drafted('small.bin')).toEqual(['llama/no-gguf']);
    expect(drafted('a.gguf', 'b.gguf')).toEqual(['llama/several-ggufs']);
  });

  it('reserves the drafter options for the driver only if it has a drafter', () => {
    const nodes = llamaFleet().placements[0]?.nodes.slice(0, 1) ?? [];
    const args = `--spec-type --spec-default -ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl -devd
      --device-draft --spec-draft-device -otd --override-tensor-draft --spec-draft-override-tensor -cmoed
      --cpu-moe-draft --spec-draft-cpu-moe -ncmoed --n-cpu-moe-draft --spec-draft-n-cpu-moe --spec-draft-ncmoe -cd
      --ctx-size-draft`.split(/\s+/);
    const drafts = ['SPEC_TYPE', 'N_GPU_LAYERS_DRAFT', 'SPEC_DRAFT_CPU_MOE', 'SPEC_DRAFT_N_CPU_MOE', 'CTX_SIZE_DRAFT'];
    const env = Object.fromEntries(drafts.map((name) => [`LLAMA_ARG_${name}`, '0']));
    const placement = { nodes, args, env };
    expect(found({ placement })).toEqual([]);
    const reserved = found({ placement, drafterFiles: [fileAt('small.gguf')] });
    expect(reserved).toEqual([...drafts, ...args].map(() => 'placement/reserved-word'));
  });

  it('needs a cable from the leader to each worker', () => {
    const without = (text: string): boolean => !text.includes('studio-3');
    expect(found({ links: without })).toEqual(['llama/no-cable']);
  });

  it('is refused with options that the driver sets', () => {
    const placement = {
      args: ['--tensor-split=1,2', '--metrics', '-fit', 'on'],
      env: { GGML_RPC_NO_RDMA: '0', A: 'b', LLAMA_ARG_N_GPU_LAYERS: '0' },
    };
    expect(found({ placement })).toEqual(Array(4).fill('placement/reserved-word'));
  });
});

onOnePage('check');
