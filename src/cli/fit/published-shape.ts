import type { NamedModel } from '../../drivers/known/known-models.ts';
import type { PublishedBuild } from '../../drivers/known/tables.ts';
import { given } from '../../model/given.ts';
import type { ShapeFact } from '../../model/model-shape.ts';
import type { TensorBytes } from '../../rack/artifacts/shapes/safetensors.ts';
import { safetensorsShape } from '../../rack/artifacts/shapes/safetensors-shape.ts';
import { unknownShape } from '../sources/read-shapes.ts';

/** Bytes of one weight outside mlx's quantization. */
const plainBytes = 2;

/** Each group of quantized weights has a scale and an offset of two bytes each. */
const bytesPerWeight = ({ quantization }: PublishedBuild): number =>
  quantization === undefined ? plainBytes : quantization.bits / 8 + (2 * plainBytes) / quantization.group;

/** A known model's shape with published dimensions and total size, which is divided equally among the layers. */
export function publishedShape({ model, build }: NamedModel): ShapeFact {
  const { name, type, config } = model;
  if (config === undefined || build === undefined) {
    return unknownShape(`too little is published about ${name} to calculate its memory`);
  }
  const { quantization } = build;
  const fields = {
    model_type: type,
    ...config,
    ...(quantization && { quantization: { bits: quantization.bits, group_size: quantization.group } }),
  };
  return safetensorsShape(JSON.stringify(given(fields)), tensorsOf(config, build));
}

/** The tensors that such a model has, with estimated sizes. */
function tensorsOf(config: Readonly<Record<string, unknown>>, build: PublishedBuild): readonly TensorBytes[] {
  const count = (...names: readonly string[]): number => {
    const found = names.map((name) => config[name]).find((value) => typeof value === 'number');
    return typeof found === 'number' ? found : 0;
  };
  const each = bytesPerWeight(build);
  const [layers, hidden, vocabulary] = [count('num_hidden_layers'), count('hidden_size'), count('vocab_size')];
  const ends = Math.round(vocabulary * hidden * each);
  const layer = Math.floor((build.bytes - 2 * ends) / layers);
  const experts = count('n_routed_experts', 'num_experts', 'num_local_experts');
  const inner = count('moe_intermediate_size', 'intermediate_size');
  const latent = count('q_lora_rank') + count('kv_lora_rank') + count('qk_rope_head_dim');
  const whole = Math.round(hidden * (latent * each + experts * plainBytes));
  // mlx stores the experts of a layer in three tensors.
  const stacked = build.quantization === undefined ? 0 : Math.round(experts * inner * hidden * each);
  const expert = Math.max(0, Math.min(stacked, Math.floor((layer - whole) / 3)));
  const names = ['gate', 'up', 'down'].map((part) => `mlp.switch_mlp.${part}_proj.weight`);
  return [
    { name: 'model.embed_tokens.weight', bytes: ends },
    { name: 'lm_head.weight', bytes: ends },
    ...Array.from({ length: layers }, (_, index) => [
      { name: `model.layers.${index}.self_attn.q_a_proj.weight`, bytes: whole },
      { name: `model.layers.${index}.self_attn.o_proj.weight`, bytes: layer - whole - 3 * expert },
      ...names.map((name) => ({ name: `model.layers.${index}.${name}`, bytes: expert })),
    ]).flat(),
  ];
}
