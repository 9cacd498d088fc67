/**
 * A path on a node, as a Mac knows it (`/usr/bin/sw_vers`). It is data until the one renderer
 * (`node/paths/node-paths.ts`) puts the root prefix before it: empty on a Mac, a folder in the portable simulator.
 */
export interface NodePath {
  readonly kind: 'node-path';
  readonly path: string;
}

/** One word of a command line on a node: literal text, or a path that still lacks its root prefix. */
export type Word = string | NodePath;
