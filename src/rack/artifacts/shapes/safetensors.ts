import { jsonObject, parsedJson } from '../../../model/digest.ts';
import { groupBy } from '../../../model/lists.ts';

type ShapeFiles =
  | { readonly kind: 'safetensors'; readonly config: string; readonly weights: readonly string[] }
  /** The parts of one model, in order. */
  | { readonly kind: 'gguf'; readonly weights: readonly string[] }
  | { readonly kind: 'none'; readonly why: string };

const partName = /-\d{5}-of-\d{5}\.gguf$/;

/**
 * Chooses among a model's files as mlx-lm and llama.cpp do: `model*.safetensors` with `config.json`, or the only GGUF
 * model with all its parts. Image encoders (`mmproj`) are ignored.
 */
export function shapeFiles(paths: readonly string[]): ShapeFiles {
  const top = paths.filter((path) => !path.includes('/')).toSorted();
  const safetensors = top.filter((path) => path.endsWith('.safetensors'));
  const named = safetensors.filter((path) => path.startsWith('model'));
  const weights = named.length > 0 ? named : safetensors;
  if (weights.length > 0 && top.includes('config.json')) return { kind: 'safetensors', config: 'config.json', weights };
  const gguf = paths.filter((path) => path.endsWith('.gguf') && !/(?:^|\/)mmproj/i.test(path)).toSorted();
  const models = groupBy(gguf, (path) => path.replace(partName, ''));
  const [first, ...others] = models.values();
  if (others.length > 0) return { kind: 'none', why: `it has ${models.size} GGUF models instead of one` };
  if (first !== undefined) return { kind: 'gguf', weights: first };
  return weights.length > 0
    ? { kind: 'none', why: 'it has no config.json next to its safetensors files' }
    : { kind: 'none', why: 'it has neither safetensors nor GGUF files' };
}

const lengthBytes = 8;

/**
 * The tensors of a safetensors file, which begins with eight bytes of length and JSON with a byte range per name.
 *
 *     {"model.norm.weight":{"dtype":"BF16","shape":[7168],"data_offsets":[0,14336]}}
 *
 * @param start the beginning of the file, as far as it was read
 * @see https://huggingface.co/docs/safetensors: format
 */
export function safetensorsHeader(
  start: Uint8Array,
  fileBytes: number,
): Header<{ readonly tensors: readonly TensorBytes[] }> {
  if (start.length < lengthBytes) return needsUntil(lengthBytes, fileBytes);
  const length = new DataView(start.buffer, start.byteOffset, start.byteLength).getBigUint64(0, true);
  const end = lengthBytes + Number(length);
  if (end > start.length) return needsUntil(end, fileBytes);
  const text = utf8(start.subarray(lengthBytes, end));
  if (text === undefined) return { kind: 'damaged', why: 'is not UTF-8' };
  const entries = jsonEntries(text);
  if (entries === undefined) return { kind: 'damaged', why: 'is not a JSON object' };
  if (entries.length > mostTensors) return { kind: 'damaged', why: `names more than ${mostTensors} tensors` };
  const tensors: TensorBytes[] = [];
  for (const [name, value] of entries) {
    if (name === '__metadata__') continue;
    const bytes = sizeOf(value, fileBytes - end);
    if (bytes === undefined) return { kind: 'damaged', why: 'has a tensor outside the file' };
    tensors.push({ name, bytes });
  }
  return { kind: 'known', tensors };
}

/** Decodes these bytes; returns undefined if they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the members of the JSON object in a text; undefined for any other text. */
export function jsonEntries(text: string): readonly (readonly [string, unknown])[] | undefined {
  const value = jsonObject(parsedJson(text));
  return value === undefined ? undefined : Object.entries(value);
}

function sizeOf(value: unknown, dataBytes: number): number | undefined {
  const offsets = jsonObject(value)?.['data_offsets'];
  if (!Array.isArray(offsets) || offsets.length !== 2) return undefined;
  const [from, to]: readonly unknown[] = offsets;
  const isInside = Number.isSafeInteger(from) && Number.isSafeInteger(to);
  if (!isInside || typeof from !== 'number' || typeof to !== 'number') return undefined;
  return from >= 0 && to >= from && to <= dataBytes ? to - from : undefined;
}
export interface TensorBytes {
  readonly name: string;
  readonly bytes: number;
}

/** The result of reading the beginning of a weights file; `why` follows "its header ". */
export type Header<Read> =
  /** At least this many bytes of the file are needed. */
  | { readonly kind: 'more'; readonly bytes: number }
  | { readonly kind: 'damaged'; readonly why: string }
  | ({ readonly kind: 'known' } & Read);

/** No model has a longer header: a vocabulary of a million words needs less. */
const mostHeaderBytes = 64 * 2 ** 20;

/** More tensors than any model has: 128 layers with 512 separate experts each have 600,000. */
export const mostTensors = 1_000_000;

/** What follows a header that ends at `end`: more to read, unless `end` is past the file or the limit. */
export function needsUntil(
  end: number,
  fileBytes: number,
): { readonly kind: 'more'; readonly bytes: number } | { readonly kind: 'damaged'; readonly why: string } {
  if (end > fileBytes) return { kind: 'damaged', why: 'continues past the end of the file' };
  if (end > mostHeaderBytes) return { kind: 'damaged', why: 'is longer than 64 MiB' };
  return { kind: 'more', bytes: end };
}

/** The size of a shape in bytes, without the cache per token. */
export function weighTensors(tensors: readonly TensorBytes[], layerCount: number) {
  const layers = Array.from({ length: layerCount }, () => ({ bytes: 0, sharded: 0 }));
  const sums = { embedding: 0, output: 0, 'last-norm': 0, other: 0 };
  let largestTensorBytes = 0;
  for (const { name, bytes } of tensors) {
    largestTensorBytes = Math.max(largestTensorBytes, bytes);
    const place = tensorPlace(name, layerCount);
    const layer = place.kind === 'layer' ? layers[place.layer] : undefined;
    if (layer !== undefined && place.kind === 'layer') {
      layer.bytes += bytes;
      layer.sharded += place.isSharded ? bytes : 0;
    } else if (place.kind !== 'layer') sums[place.kind] += bytes;
  }
  return {
    layers,
    embeddingBytes: sums.embedding,
    outputBytes: sums.output,
    otherBytes: sums.other + sums['last-norm'],
    lastNormBytes: sums['last-norm'],
    largestTensorBytes,
  };
}
type TensorPlace =
  | { readonly kind: 'layer'; readonly layer: number; readonly isSharded: boolean }
  | { readonly kind: 'embedding' | 'output' | 'last-norm' | 'other' };

/** Image and audio encoders have their own layers, which are not part of the language model. */
const besideLanguage = /vision|visual|image|audio|speech|projector|(?:^|\.)mtp\./;

const layerName = /(?:^|\.)(?:layers|h|blocks|blk)\.(\d{1,4})\./;

/** Tensors that stay whole under tensor sharding: norms, expert routers, and projections into MLA's latent vector. */
const wholeInLayer =
  /norm|\.gate\.|router|shared_expert_gate|ffn_gate_inp|q_a_proj|kv_a_proj|attn_q_a|attn_kv_a|indexer/;

/** Determines a tensor's place from its name, as transformers, MLX and GGUF name tensors. */
function tensorPlace(name: string, layerCount: number): TensorPlace {
  if (besideLanguage.test(name)) return { kind: 'other' };
  const layer = Number(layerName.exec(name)?.[1] ?? Number.NaN);
  if (Number.isInteger(layer)) {
    return layer < layerCount
      ? { kind: 'layer', layer, isSharded: !wholeInLayer.test(name) }
      : // A layer after the last one predicts further tokens. Runtimes may load it, and it belongs to no rank.
        { kind: 'other' };
  }
  if (/embed_tokens|token_embd|wte\.|word_embeddings|tok_embeddings/.test(name) && !/norm/.test(name)) {
    return { kind: 'embedding' };
  }
  if (/(?:^|\.)lm_head\.|^output\.(?!norm)/.test(name)) return { kind: 'output' };
  return /(?:^|\.)(?:norm|final_layernorm|output_norm|ln_f)\./.test(name) ? { kind: 'last-norm' } : { kind: 'other' };
}
