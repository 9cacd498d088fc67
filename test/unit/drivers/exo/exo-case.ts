import { textOf } from '../../../architecture/sources.ts';

/** One of exo's payloads, as text. */
export const exoCase = (name: string): string => textOf(`test/cases/exo/${name}`);

/** The ids of the first two nodes in the payloads, in rank order. */
export const ids = ['7c1f0a94b2d84e6f9a3d5be2471c08fd', 'a95e37c60f1b4d2288e4f3c9d06b17a2'] as const;
