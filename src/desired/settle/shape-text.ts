import { jsonObject, parsedJson } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { AttentionShape, LayerShape, ModelShape } from '../../model/model-shape.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Formats a shape as one line of JSON for the lock. Equal consecutive layers become one entry with a count. */
export function shapeText({ layers, ...rest }: ModelShape): string {
  const runs: [count: number, layer: LayerShape][] = [];
  for (const layer of layers) {
    const last = runs.at(-1);
    if (last !== undefined && JSON.stringify(last[1]) === JSON.stringify(layer)) last[0] += 1;
    else runs.push([1, layer]);
  }
  return JSON.stringify({ ...rest, layers: runs.map(([count, layer]) => ({ count, ...layer })) });
}

/** Parses a shape's line; returns undefined if it is invalid, so that the shape is read from the files again. */
export function parseShape(text: string): ModelShape | undefined {
  const fields = fieldsOf(parsedJson(text));
  const attention = attentionOf(fieldsOf(fields['attention']));
  const layers = layersOf(fields['layers']);
  const { format, architecture, hasOwnCode } = fields;
  const isNamed = typeof architecture === 'string' && typeof hasOwnCode === 'boolean';
  if ((format !== 'safetensors' && format !== 'gguf') || !isNamed || attention === undefined) return undefined;
  const [hidden, heads, kvHeads, headDim] = ['hidden', 'heads', 'kvHeads', 'headDim'].map((key) => count(fields[key]));
  if (layers === undefined || !hidden || !heads || !kvHeads || !headDim) return undefined;
  const dims = fieldsOf(fields['dims']);
  const quant = fieldsOf(fields['quant']);
  const bytes = (key: string): number => count(fields[key]) ?? 0;
  const [bits, group] = [count(quant['bits']), count(quant['group'])];
  return {
    format,
    architecture,
    ...classesOf(fields['classes']),
    hidden,
    heads,
    kvHeads,
    headDim,
    attention,
    ...some('vocabulary', fields),
    ...some('maxContext', fields),
    dims: { ...some('intermediate', dims), ...some('moeIntermediate', dims), ...some('sharedIntermediate', dims) },
    ...(bits && group ? { quant: { bits, group } } : {}),
    hasOwnCode,
    layers,
    embeddingBytes: bytes('embeddingBytes'),
    outputBytes: bytes('outputBytes'),
    otherBytes: bytes('otherBytes'),
    lastNormBytes: bytes('lastNormBytes'),
    largestTensorBytes: bytes('largestTensorBytes'),
    stateBytes: bytes('stateBytes'),
  };
}

const fieldsOf = (value: unknown): Fields => jsonObject(value) ?? {};

/** A whole number from 0 to 2^53. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

function some<Key extends string>(key: Key, fields: Fields): Partial<Record<Key, number>> {
  const value = count(fields[key]);
  const found: Partial<Record<Key, number>> = {};
  if (value !== undefined) found[key] = value;
  return found;
}

function attentionOf({ kind, latentDim, ropeDim }: Fields): AttentionShape | undefined {
  if (kind === 'gqa') return { kind };
  const [latent, rope] = [count(latentDim), count(ropeDim)];
  return kind === 'mla' && latent !== undefined && rope !== undefined
    ? { kind, latentDim: latent, ropeDim: rope }
    : undefined;
}

function classesOf(value: unknown): Pick<ModelShape, 'classes'> {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? { classes: value } : {};
}

const mostLayers = 2_048;

function layersOf(value: unknown): readonly LayerShape[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const layers: LayerShape[] = [];
  for (const entry of value) {
    const fields = fieldsOf(entry);
    const [times, bytes, sharded] = [count(fields['count']), count(fields['bytes']), count(fields['sharded'])];
    const [cachePerToken, window] = [count(fields['cachePerToken']), count(fields['window'])];
    const isWhole = bytes !== undefined && sharded !== undefined && cachePerToken !== undefined;
    if (!times || !isWhole || layers.length + times > mostLayers) return undefined;
    const layer = { bytes, sharded, cachePerToken, ...given({ window }) };
    layers.push(...Array.from({ length: times }, () => layer));
  }
  return layers.length === 0 ? undefined : layers;
}
