import type { TreeFile } from '../../model/node-script.ts';

/** The file that llama-server is given, or why there is none. */
export type ModelFile =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly paths: readonly string[] };

const isWeights = (path: string): boolean => path.endsWith('.gguf') && !/(^|\/)mmproj[^/]*$/i.test(path);
const laterPart = /-(?!00001)\d{5}-of-\d{5}\.gguf$/;

/** The GGUF among the files of a model; of one in several parts the first, beside which the others are looked for. */
export function modelFile(files: readonly Pick<TreeFile, 'path'>[]): ModelFile {
  const paths = files.map(({ path }) => path).filter((path) => isWeights(path) && !laterPart.test(path));
  const [path, ...others] = paths;
  if (path === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'file', path } : { kind: 'several', paths };
}
