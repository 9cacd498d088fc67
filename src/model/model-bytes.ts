import type { TreeFile } from './node-script.ts';
import { mebibyte } from './text/units.ts';

export const totalBytes = (files: readonly Pick<TreeFile, 'sizeBytes'>[]): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** A smaller model is sent from this computer to each Mac, because an exchange takes a few seconds. */
export const leastExchangeBytes = 128 * mebibyte;

export const mostChunkBytes = 64 * mebibyte;

/** The size of the chunks in which Macs exchange a model: 64 MiB; less for small models, so that all can help. */
export const chunkBytes = (bytes: number): number =>
  Math.min(mostChunkBytes, Math.max(1, 2 ** Math.floor(Math.log2(bytes / 1_024 / mebibyte))) * mebibyte);
