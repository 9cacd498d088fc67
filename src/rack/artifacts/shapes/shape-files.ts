/** Which files of a model its shape is read from. */
export type ShapeFiles =
  | { readonly kind: 'safetensors'; readonly config: string; readonly weights: readonly string[] }
  /** The parts of one model, in order. */
  | { readonly kind: 'gguf'; readonly weights: readonly string[] }
  | { readonly kind: 'none'; readonly why: string };

const partName = /-\d{5}-of-\d{5}\.gguf$/;

/**
 * Chooses among the files of a model as mlx-lm and llama.cpp do: `model*.safetensors` beside `config.json`, or the one
 * GGUF model with all its parts; encoders of images (`mmproj`) are left aside.
 */
export function shapeFiles(paths: readonly string[]): ShapeFiles {
  const top = paths.filter((path) => !path.includes('/')).toSorted();
  const safetensors = top.filter((path) => path.endsWith('.safetensors'));
  const named = safetensors.filter((path) => path.startsWith('model'));
  const weights = named.length > 0 ? named : safetensors;
  if (weights.length > 0 && top.includes('config.json')) return { kind: 'safetensors', config: 'config.json', weights };
  const gguf = paths.filter((path) => path.endsWith('.gguf') && !/(?:^|\/)mmproj/i.test(path)).toSorted();
  const models = new Map<string, readonly string[]>();
  for (const path of gguf) {
    const stem = path.replace(partName, '');
    models.set(stem, [...(models.get(stem) ?? []), path]);
  }
  const [first, ...others] = models.values();
  if (others.length > 0) return { kind: 'none', why: `it has ${models.size} GGUF models side by side` };
  if (first !== undefined) return { kind: 'gguf', weights: first };
  return weights.length > 0
    ? { kind: 'none', why: 'it has no config.json beside its safetensors files' }
    : { kind: 'none', why: 'it has neither safetensors nor GGUF files' };
}
