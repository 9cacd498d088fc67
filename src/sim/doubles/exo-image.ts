import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { plistText } from '../model/plist.ts';
import { doubleText, partText, safetensors, type WrittenFile, writeWithFolder } from './double-files.ts';
import { tarGz } from './tar-gz.ts';

/**
 * Writes a disk image of exo's app for a simulated Mac, with the double of exo in the real program's place. The bytes
 * are always the same.
 *
 * @param path of the `.dmg` file, whose folder is created
 */
export async function writeExoImage(path: string, dialect: Dialect = '1.0.71'): Promise<void> {
  const version = dialect === 'main' ? '1.0.72' : dialect;
  await writeExoProgram(path, { program: 'EXO.app/Contents/Resources/exo/exo', dialect, version });
}

/**
 * Writes the double as a build of one commit of exo's main branch. It is what exo's PyInstaller recipe leaves in
 * `dist`, in a folder named after the commit.
 *
 * @param path of the `.tar.gz` file, whose folder is created
 */
export async function writeExoBuild(path: string, commit: string): Promise<void> {
  await writeWithFolder(path, tarGz(doubleIn(`exo-${commit}`, 'main')));
}

type Dialect = '1.0.71' | 'main';

/**
 * Writes the double with its program at a custom path, as a cluster file may set it.
 *
 * @param path of the archive or image, whose folder is created
 */
export async function writeExoProgram(
  path: string,
  { program, dialect, version }: { readonly program: string; readonly dialect: Dialect; readonly version: string },
): Promise<WrittenFile> {
  const at = program.lastIndexOf('/');
  const files = doubleIn(at < 0 ? '.' : program.slice(0, at), dialect, program.slice(at + 1));
  const content = Buffer.from(plistText({ CFBundleShortVersionString: version }));
  const plist = { path: 'EXO.app/Contents/Info.plist', mode: 0o644, content };
  return writeWithFolder(path, tarGz([...(program.startsWith('EXO.app/') ? [plist] : []), ...files]));
}

/** The double of exo in an archive's folder. */
const doubleIn = (folder: string, dialect: Dialect, name = 'exo'): Parameters<typeof tarGz>[0] => [
  { path: `${folder}/${name}`, mode: 0o755, content: Buffer.from(doubleText('exo/exo.pl')) },
  { path: `${folder}/dialect`, mode: 0o644, content: Buffer.from(dialect) },
  ...['api.pl', 'mesh.pl', 'placing.pl'].map((name) => ({
    path: `${folder}/${name}`,
    mode: 0o644,
    content: Buffer.from(partText(`exo/${name}`)),
  })),
];

/** Tensors of the same shape with two bytes per number. */
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
 * Writes a model that exo accepts: configuration, tokenizer, and weights with the index that exo requires. The bytes
 * are always the same.
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
