import type { DesiredPlacement } from '../../model/desired.ts';

/** Bytes of one number of the cache. Those of fewer bits come in blocks of 32 with a scale each. @see ggml/src/ggml-common.h */
const bytesOf: Readonly<Record<string, number>> = {
  f32: 4,
  f16: 2,
  bf16: 2,
  q8_0: 34 / 32,
  q5_1: 24 / 32,
  q5_0: 22 / 32,
  q4_1: 20 / 32,
  q4_0: 18 / 32,
  iq4_nl: 18 / 32,
};

/** What a shape counts with. */
const usualBytes = 2;

/** A word that nobody knows here is taken for the largest one. */
const mostBytes = 4;

const flags = [
  { words: new Set(['-ctk', '--cache-type-k']), variable: 'LLAMA_ARG_CACHE_TYPE_K' },
  { words: new Set(['-ctv', '--cache-type-v']), variable: 'LLAMA_ARG_CACHE_TYPE_V' },
];

/** The words by which llama-server is told of what its cache is made; a word of `args` comes before a variable. */
type Told = Partial<Pick<DesiredPlacement, 'args' | 'env'>>;

/**
 * How much larger the cache of llama.cpp is than one of f16. Keys and values may have types of their own; then the larger
 * one is taken for both, since not every model has as many of the one as of the other.
 */
export function llamaCacheFactor({ args = [], env = {} }: Told): number {
  const sizes = flags.map(({ words, variable }) => {
    const at = args.findLastIndex((arg) => words.has(arg));
    const type = at === -1 ? (Object.hasOwn(env, variable) ? env[variable] : 'f16') : args[at + 1];
    return type !== undefined && Object.hasOwn(bytesOf, type) ? (bytesOf[type] ?? mostBytes) : mostBytes;
  });
  return Math.max(...sizes) / usualBytes;
}
