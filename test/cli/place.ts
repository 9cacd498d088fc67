import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processesBelow } from '../processes-below.ts';

/** An operator's computer in a temporary folder, with its own home, state and temporary files. */
export interface Place {
  readonly root: string;
  /** The working folder of commands. */
  readonly folder: string;
  readonly home: string;
  readonly tmp: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file into the folder and returns its path. */
  readonly write: (name: string, text: string | Uint8Array) => string;
  readonly remove: () => void;
}

const example = fileURLToPath(new URL('../rack/reference.yaml', import.meta.url));

/** The cluster file of the README. */
export const exampleText = readFileSync(example, 'utf8');

/** The example without runtimes, models and placements. */
export const bareText = exampleText.slice(0, exampleText.indexOf('\nruntimes:') + 1);

/** A fresh place without a cluster file; its environment has nothing from the person who runs the tests. */
export function makePlace(): Place {
  // On macOS, /tmp is a link, and the program shows the real path.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mw-cli-')));
  const at = (name: string): string => {
    mkdirSync(join(root, name), { mode: 0o700 });
    return join(root, name);
  };
  const [folder, home, tmp, state] = [at('rack'), at('home'), at('tmp'), at('state')];
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    TMPDIR: tmp,
    MESHWRIGHT_STATE: state,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
  };
  const write = (name: string, text: string | Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, 0o644);
    return path;
  };
  return { root, folder, home, tmp, state, env, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** A place with the example as its cluster file. */
export function makeExamplePlace(): Place {
  const place = makePlace();
  place.write('cluster.yaml', exampleText);
  return place;
}

/** Command lines of running processes that have a path of this place. */
export const processesOf = (place: Place): readonly string[] => processesBelow(place.root);

/** The files in the place's temporary folder. */
export const temporaryFiles = (place: Place): readonly string[] => readdirSync(place.tmp);
