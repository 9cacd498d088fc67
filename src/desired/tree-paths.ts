/** The largest number of files in one model, so that the lock remains small enough to be read. */
export const mostTreeFiles = 2_048;
/** The most bytes of a model or an archive, 10 TB, several times as many as the largest model has. */
export const mostTreeBytes = 10_000_000_000_000;

/**
 * The form of a path inside a model, as in the schema. It excludes meshwright's own seal, and names to which `.part.own`
 * cannot be added: a name on APFS has at most 255 bytes.
 */
const form = /^(?!\.meshwright)(?!(.*\/)?\.{1,2}(\/|$))[A-Za-z0-9._+@=,-]{1,240}(\/[A-Za-z0-9._+@=,-]{1,240})*$/;
const longestPath = 512;

export const isTreePath = (path: string): boolean => path.length <= longestPath && form.test(path);

/** Two paths that are the same on macOS, or where one is both a file and a folder. */
export interface Collision {
  readonly path: string;
  readonly other: string;
}

/**
 * Finds paths that collide on a volume that ignores case, as on macOS: paths that differ only in case, or a path that
 * is also another path's folder. Lists the later path of each pair once.
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
