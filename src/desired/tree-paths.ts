/** Files of one model; more are refused, so that a lock can always be read again. */
export const mostTreeFiles = 2_048;

/** The form of a path inside a model; the schema has the same one. Our own seal is no file of a model. */
const form = /^(?!\.meshwright)(?!(.*\/)?\.{1,2}(\/|$))[A-Za-z0-9._+@=,-]+(\/[A-Za-z0-9._+@=,-]+)*$/;
const longestPath = 512;

/** Whether a path can be one of a file inside a model. */
export const isTreePath = (path: string): boolean => path.length <= longestPath && form.test(path);

/** Two paths that macOS cannot keep apart, or of which one would be a file and a folder at once. */
export interface Collision {
  readonly path: string;
  readonly other: string;
}

/**
 * Paths that collide on a volume that ignores case, as macOS makes them: equal but for case, or one a folder of the
 * other. Each later path of a pair once.
 */
export function collisionsOf(paths: readonly string[]): readonly Collision[] {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const collisions: Collision[] = [];
  for (const path of paths) {
    const folded = path.toLowerCase();
    const above = foldersOf(folded);
    const inFile = above.find((folder) => files.has(folder));
    const other = files.get(folded) ?? folders.get(folded) ?? (inFile === undefined ? undefined : files.get(inFile));
    if (other !== undefined) collisions.push({ path, other });
    files.set(folded, path);
    for (const folder of above) if (!folders.has(folder)) folders.set(folder, path);
  }
  return collisions;
}

/** `a/b/c` is in `a` and in `a/b`. */
const foldersOf = (path: string): readonly string[] =>
  path
    .split('/')
    .map((_, index, parts) => parts.slice(0, index).join('/'))
    .slice(1);
