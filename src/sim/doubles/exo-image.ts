import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { dataFile, toolFile } from '../model/node-files.ts';
import { plistText } from '../model/plist.ts';
import { doubleText, partText, safetensors, type WrittenFile, writeWithFolder } from './double-files.ts';
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
function weights(names: readonly string[], dims: readonly [number, number]): Buffer {
  const tensors = names.map((name) => {
    const content = Buffer.alloc(dims[0] * dims[1] * 2, createHash('sha256').update(name).digest());
    return { name, dtype: 'F16', shape: dims, content } as const;
  });
  return safetensors(tensors);
}

const shape = { hidden: 64, layers: 4, heads: 4 } as const;

const config = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: shape.hidden,
  intermediate_size: 4 * shape.hidden,
  num_hidden_layers: shape.layers,
  num_attention_heads: shape.heads,
  num_key_value_heads: shape.heads,
  head_dim: shape.hidden / shape.heads,
  max_position_embeddings: 131_072,
  vocab_size: 256,
  torch_dtype: 'float16',
};

/**
 * Writes a model that exo accepts: configuration, tokenizer, and weights with exo's required index. The bytes are
 * always the same.
 *
 * @param folder is created
 */
export async function writeIndexedModel(folder: string): Promise<void> {
  const names = Array.from({ length: shape.layers }, (_, layer) => `model.layers.${layer}.self_attn.q_proj.weight`);
  const fileOf = (layer: number): string => `model-0000${layer < shape.layers / 2 ? 1 : 2}-of-00002.safetensors`;
  const weightMap = Object.fromEntries(names.map((name, layer) => [name, fileOf(layer)]));
  const index = { metadata: { total_size: names.length * shape.hidden ** 2 * 2 }, weight_map: weightMap };
  await writeWithFolder(join(folder, 'config.json'), JSON.stringify(config));
  await writeWithFolder(join(folder, 'tokenizer.json'), '{}');
  await writeWithFolder(join(folder, 'model.safetensors.index.json'), JSON.stringify(index));
  for (const file of new Set(Object.values(weightMap))) {
    const held = names.filter((name) => weightMap[name] === file);
    await writeWithFolder(join(folder, file), weights(held, [shape.hidden, shape.hidden]));
  }
}
