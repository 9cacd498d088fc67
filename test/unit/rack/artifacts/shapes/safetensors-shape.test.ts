import { describe, expect, it } from 'vitest';
import { type ModelShape, weightBytes } from '../../../../../src/model/model-shape.ts';
import { shapeFiles } from '../../../../../src/rack/artifacts/shapes/safetensors.ts';
import { safetensorsShape } from '../../../../../src/rack/artifacts/shapes/safetensors-shape.ts';

const layerTensors = (layer: number) => [
  { name: `model.layers.${layer}.input_layernorm.weight`, bytes: 10 },
  { name: `model.layers.${layer}.self_attn.q_proj.weight`, bytes: 400 },
  { name: `model.layers.${layer}.self_attn.kv_a_proj_with_mqa.weight`, bytes: 70 },
  { name: `model.layers.${layer}.mlp.gate.weight`, bytes: 5 },
  { name: `model.layers.${layer}.mlp.switch_mlp.gate_proj.weight`, bytes: 3_000 },
];

const tensors = [
  { name: 'model.embed_tokens.weight', bytes: 1_000 },
  { name: 'model.norm.weight', bytes: 10 },
  { name: 'lm_head.weight', bytes: 900 },
  ...layerTensors(0),
  ...layerTensors(1),
];

const config = { model_type: 'llama', num_hidden_layers: 2, hidden_size: 512, num_attention_heads: 8 };

function shapeOf(fields: object, more: readonly { name: string; bytes: number }[] = []): ModelShape {
  const found = safetensorsShape(JSON.stringify({ ...config, ...fields }), [...tensors, ...more]);
  if (found.kind === 'unknown') throw new Error(found.why);
  return found.shape;
}

describe('a safetensors model shape', () => {
  it('separates sharded bytes from bytes that every rank loads', () => {
    const shape = shapeOf({});
    expect(shape).toMatchObject({
      embeddingBytes: 1_000,
      outputBytes: 900,
      otherBytes: 10,
      lastNormBytes: 10,
      largestTensorBytes: 3_000,
      layers: [
        { bytes: 3_485, sharded: 3_400 },
        { bytes: 3_485, sharded: 3_400 },
      ],
    });
    expect(weightBytes(shape)).toBe(tensors.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it('counts prediction layers and encoders as other bytes: golden/tensor-places.txt', async () => {
    const names = [
      'embed_tokens token_embd wte word_embeddings tok_embeddings token_embd_norm embed.norm lm_head a.lm_head',
      'xlm_head output output_norm a.output final_layernorm ln_f norm a.norm xnorm visual.norm mtp.norm a.mtp.norm',
      'h.1.up a.blocks.1.norm blk.1.gate xblk.1.up blk.2.up audio.blk.1.up layers.1.router layers.1.shared_expert_gate',
      'h.1.ffn_gate_inp h.1.q_a_proj h.1.kv_a_proj h.1.attn_q_a h.1.attn_kv_a h.1.indexer',
    ];
    const lines = names
      .flatMap((line) => line.split(' '))
      .map((name) => {
        const { layers, ...sums } = shapeOf({}, [{ name: `${name}.weight`, bytes: 1 }]);
        const sizes = [sums.embeddingBytes, sums.outputBytes, sums.otherBytes, sums.lastNormBytes];
        return `${name} ${sizes.join(' ')} ${JSON.stringify(layers[1])}`;
      });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/tensor-places.txt');
  });

  it('caches the keys and values of all heads in a layer', () => {
    expect(shapeOf({ num_key_value_heads: 2, head_dim: 128 }).layers[0]?.cachePerToken).toBe(2 * 2 * 128 * 2);
    expect(shapeOf({}).layers[0]?.cachePerToken).toBe(2 * 8 * 64 * 2);
    expect([100, 4].map((hidden_size) => shapeOf({ hidden_size }).headDim)).toEqual([12, 1]);
  });

  it('caches one latent vector with MLA', () => {
    const shape = shapeOf({ kv_lora_rank: 512, qk_rope_head_dim: 64, num_key_value_heads: 8 });
    expect(shape.attention).toEqual({ kind: 'mla', latentDim: 512, ropeDim: 64 });
    expect(shape.layers.map(({ cachePerToken }) => cachePerToken)).toEqual([1_152, 1_152]);
  });

  it('has a window only for layers that the configuration names', () => {
    const types = { sliding_window: 128, layer_types: ['sliding_attention', 'full_attention'] };
    expect(shapeOf(types).layers.map(({ window }) => window)).toEqual([128, undefined]);
    expect(shapeOf({ sliding_window: 128 }).layers.map(({ window }) => window)).toEqual([undefined, undefined]);
    const pattern = { sliding_window: 128, sliding_window_pattern: 2 };
    expect(shapeOf(pattern).layers.map(({ window }) => window)).toEqual([128, undefined]);
  });

  it('has the same dimensions with the names of other configurations', () => {
    const others = [
      {
        n_layer: 2,
        n_embd: 512,
        n_head: 8,
        num_kv_heads: 4,
        n_positions: 7,
        ffn_hidden_size: 9,
        attention_chunk_size: 5,
      },
      { num_layers: 2, d_model: 512, num_attention_heads: 8, num_key_value_heads: 4, max_position_embeddings: 7 },
    ];
    const read = others.map((one) => safetensorsShape(JSON.stringify({ ...one, _sliding_window_pattern: 2 }), tensors));
    const same = { architecture: 'unknown', hidden: 512, heads: 8, kvHeads: 4, headDim: 64, maxContext: 7 };
    expect(read).toMatchObject(others.map(() => ({ shape: same })));
    expect(read[0]).toMatchObject({ shape: { dims: { intermediate: 9 }, layers: [{ window: 5 }, {}] } });
  });

  it('has a fixed-size state instead of a cache for linear attention', () => {
    const shape = shapeOf({
      layer_types: ['linear_attention', 'full_attention'],
      linear_num_key_heads: 16,
      linear_num_value_heads: 32,
      linear_key_head_dim: 128,
      linear_value_head_dim: 128,
      linear_conv_kernel_dim: 4,
    });
    expect(shape.layers.map(({ cachePerToken }) => cachePerToken)).toEqual([0, 2_048]);
    expect(shapeOf({ full_attention_interval: 2 }).layers).toMatchObject([
      { cachePerToken: 0 },
      { cachePerToken: 2_048 },
    ]);
    expect(shape.stateBytes).toBe(32 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 32 * 128) * 2);
  });

  it.each(['text_config', 'llm_config', 'language_config'])(
    "reads a multimodal model's language part under its own name: %s",
    (part) => {
      const text = { num_hidden_layers: 2, hidden_size: 64, num_attention_heads: 4, model_type: 'inner' };
      const found = safetensorsShape(JSON.stringify({ model_type: 'kimi_k25', [part]: text }), tensors);
      expect(found).toMatchObject({ shape: { architecture: 'kimi_k25', hidden: 64, heads: 4 } });
    },
  );

  it("lists the language part's class names and omits invalid names", () => {
    const text_config = { architectures: ['Gemma4ForConditionalGeneration'] };
    expect(shapeOf({ architectures: ['Whole'], text_config }).classes).toEqual(['Gemma4ForConditionalGeneration']);
    expect(shapeOf({ architectures: ['LlamaForCausalLM'] }).classes).toEqual(['LlamaForCausalLM']);
    expect(shapeOf({ architectures: ['A', 'a b'] }).classes).toBeUndefined();
    const ofMany = (length: number) => shapeOf({ architectures: Array.from({ length }, (_, at) => `A${at}`) }).classes;
    expect([ofMany(8)?.length, ofMany(9)]).toEqual([8, undefined]);
    expect(shapeOf({})).not.toHaveProperty('classes');
  });

  it('includes quantization, custom code and maximum context', () => {
    const fields = {
      quantization: { bits: 4, group_size: 64 },
      vocab_size: 1e9,
      moe_intermediate_size: 3,
      shared_expert_intermediate_size: 4,
      auto_map: { AutoModel: 'a.B' },
      max_position_embeddings: 10,
    };
    expect(shapeOf(fields)).toMatchObject({
      quant: { bits: 4, group: 64 },
      hasOwnCode: true,
      maxContext: 10,
      vocabulary: 1e9,
      dims: { moeIntermediate: 3, sharedIntermediate: 4 },
    });
    expect([{}, { auto_map: ['a.B'] }].map((one) => shapeOf(one).hasOwnCode)).toEqual([false, false]);
  });

  const withKeys = (keys: object) => JSON.stringify({ ...config, ...keys });
  const withLayers = (count: number) => withKeys({ num_hidden_layers: count });
  const bare = 'its config.json does not give layers, hidden size and heads';
  const unknown: readonly (readonly [string, string, string])[] = [
    ['no JSON', '{', 'its config.json is not a JSON object'],
    ['a list', '[1]', 'its config.json is not a JSON object'],
    ['no layers', '{}', bare],
    ['zero layers', withLayers(0), bare],
    ['a string for a number', withKeys({ hidden_size: '512' }), bare],
    ['more than 2048 layers', withLayers(2_049), 'its config.json declares too many layers (2049)'],
    ['too few files', withLayers(2_048), 'its files lack some of the 2048 layers that its config.json declares'],
  ];

  it.each(unknown)('is unknown with %s', (_name, text, why) => {
    expect(safetensorsShape(text, tensors)).toEqual({ kind: 'unknown', why });
  });
});

describe("the files for a model's shape", () => {
  it('are the model*.safetensors files next to config.json, as in mlx-lm', () => {
    const weights = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
    const files = shapeFiles(['consolidated.safetensors', ...weights.toReversed(), 'config.json']);
    expect(files).toEqual({ kind: 'safetensors', config: 'config.json', weights });
  });

  it('are all parts of one GGUF model without its image encoder', () => {
    const weights = ['Q4/m-00001-of-00002.gguf', 'Q4/m-00002-of-00002.gguf'];
    expect(shapeFiles([...weights.toReversed(), 'mmproj-F16.gguf'])).toEqual({ kind: 'gguf', weights });
  });

  it.each([
    [['a.gguf', 'b.gguf'], 'it has 2 GGUF models instead of one'],
    [['a/model.safetensors', 'config.json'], 'it has neither safetensors nor GGUF files'],
    [['model.safetensors'], 'it has no config.json next to its safetensors files'],
    [['weights.bin'], 'it has neither safetensors nor GGUF files'],
  ])('are undefined for %s', (paths, why) => {
    expect(shapeFiles(paths)).toEqual({ kind: 'none', why });
  });
});
