import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The import table of the linters. */
interface LayerTable {
  readonly commandLine: string;
  /** The name that `levels` uses for files directly in `src/rack`. */
  readonly contract: string;
  /** The pattern for the files of parts and whole rooms. */
  readonly filesOf: (names: readonly string[]) => string;
  readonly layers: Readonly<Record<string, readonly string[]>>;
  readonly levels: readonly (readonly string[])[];
  readonly owners: Readonly<Record<string, readonly string[]>>;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly pure: readonly string[];
}

/** The project's root folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The table of `scripts/layers.cjs`. */
export const table: LayerTable = createRequire(import.meta.url)('../../scripts/layers.cjs');

/** The sorted paths of all files below a folder of the project, relative to its root, with `/`. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).split(sep).join('/'))
    .sort();
}

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
