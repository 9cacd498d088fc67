import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { dataFile, toolFile } from '../model/node-files.ts';
import { plistText } from '../model/plist.ts';
import { doubleText, partText, safetensors, type WrittenFile } from './double-files.ts';
import { writeArchive } from './tar-gz.ts';

/**
 * Writes the double of exo, with its program at the configured path in the archive: as in exo's app, or as in a custom
 * build. The bytes are always the same.
 *
 * @param path of the archive or image, whose folder is created
 */
export function writeExoProgram(
  path: string,
  program: { readonly program: string; readonly dialect: '1.0.71' | 'main'; readonly version: string },
): Promise<WrittenFile> {
  const folder = dirname(program.program);
  const plist = plistText({ CFBundleShortVersionString: program.version });
  return writeArchive(path, [
    ...(program.program.startsWith('EXO.app/') ? [dataFile('EXO.app/Contents/Info.plist', plist)] : []),
    toolFile(`${folder}/${basename(program.program)}`, doubleText('exo/exo.pl')),
    dataFile(`${folder}/dialect`, program.dialect),
    ...['api.pl', 'mesh.pl', 'placing.pl'].map((name) => dataFile(`${folder}/${name}`, partText(`exo/${name}`))),
  ]);
}

/** Tensors with the same shape and two bytes per number. */
function weights(names: readonly string[], dims: readonly [number, number], seed: string): Buffer {
  const tensors = names.map((name) => {
    const content = Buffer.alloc(dims[0] * dims[1] * 2, createHash('sha256').update(seed).update(name).digest());
    return { name, dtype: 'F16', shape: dims, content } as const;
  });
  return safetensors(tensors);
}

/** The shape of a made-up model with the architecture `llama` in safetensors files. */
export interface IndexedShape {
  readonly hidden: number;
  readonly layers: number;
  /** Divides `hidden`. */
  readonly heads: number;
  readonly context: number;
  /** Determines the weights. */
  readonly seed?: string;
}

const configOf = ({ hidden, layers, heads, context }: IndexedShape) => ({
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: hidden,
  intermediate_size: 4 * hidden,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: heads,
  head_dim: hidden / heads,
  max_position_embeddings: context,
  vocab_size: 256,
  torch_dtype: 'float16',
});

/** A model that exo accepts: configuration, tokenizer, weights with an index. Equal shapes give equal bytes. */
export function indexedModel(shape: IndexedShape): ReadonlyMap<string, Buffer | string> {
  const { hidden, layers, seed = '' } = shape;
  const names = Array.from({ length: layers }, (_, layer) => `model.layers.${layer}.self_attn.q_proj.weight`);
  const fileOf = (layer: number): string => `model-0000${layer < layers / 2 ? 1 : 2}-of-00002.safetensors`;
  const weightMap = Object.fromEntries(names.map((name, layer) => [name, fileOf(layer)]));
  const index = { metadata: { total_size: names.length * hidden ** 2 * 2 }, weight_map: weightMap };
  const files = new Map<string, Buffer | string>([
    ['config.json', JSON.stringify(configOf(shape))],
    ['tokenizer.json', '{}'],
    ['model.safetensors.index.json', JSON.stringify(index)],
  ]);
  for (const file of new Set(Object.values(weightMap))) {
    const held = names.filter((name) => weightMap[name] === file);
    files.set(file, weights(held, [hidden, hidden], seed));
  }
  return files;
}
