/** The text of every node script as it was, and whether another text for the same job does the same on a Mac. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { allProbes } from '../../../src/engine/observe/facts.ts';
import { mutatingScript } from '../../../src/node/mutating-script.ts';
import { observeScript } from '../../../src/node/observe-script.ts';
import { ours } from './mac-root.ts';
import { everyText, exampleFence } from './script-examples.ts';
import type { Shell } from './shells.ts';
import { wholeMac } from './whole-mac.ts';

const fixture = new URL('../../cases/node-scripts-before/texts.json.gz', import.meta.url);

/** Stands for the root prefix of a node, in texts that are kept. */
const anyRoot = '/ROOT-OF-A-NODE';

const note = { step: 'studio-1 power', verb: 'apply', by: 'ana@desk', config: 'cafe' };

/** Every text that a node is sent, with the forms of the frame around scripts of root that no example has. */
export function nodeTexts(rootPrefix = anyRoot): Readonly<Record<string, string>> {
  const frame = { rootPrefix, fence: exampleFence, note, body: 'changed' };
  return {
    ...Object.fromEntries(uniquely(everyText(rootPrefix))),
    'frame that settles a rollback': mutatingScript({ ...frame, isSettling: true }),
    'frame that is the last one': mutatingScript({ ...frame, isLast: true }),
    'first attempt': mutatingScript({ ...frame, sending: { key: 'c0ffee', attempt: 1 } }),
    observation: observeScript({ rootPrefix, token: '0'.repeat(32), probes: allProbes() }),
  };
}

/** Examples of the same job get numbers. */
const uniquely = (texts: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] =>
  texts.map(([name, text], at) => {
    const before = texts.slice(0, at).filter(([other]) => other === name).length;
    return [before === 0 ? name : `${name} ${before + 1}`, text];
  });

/** The texts as they were when they were kept. */
export const textsBefore = (): Readonly<Record<string, string>> =>
  JSON.parse(gunzipSync(readFileSync(fixture)).toString('utf8'));

/** Keeps the present texts. */
export function keepTexts(): void {
  mkdirSync(new URL('.', fixture), { recursive: true });
  writeFileSync(fixture, gzipSync(JSON.stringify(nodeTexts(), null, 1), { level: 9 }));
}

/** What a script did: everything that can be told apart afterwards. */
export interface Done {
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
  /** Each file, folder and link, with mode, content and target. */
  readonly tree: readonly string[];
}

/** Where a text lies that finds its folder by its own path; others come on standard input. */
const ownPath = (name: string): string | undefined => {
  if (name.startsWith('job ')) return `${ours}/ops/example/run`;
  if (name === 'round of the keeper') return `${ours}/keeper/keep`;
  return name === 'waiting for a confirmation' ? `${ours}/rollback/pending/roll` : undefined;
};

/** Runs a text on a Mac of its own on which the script of that name has something to do. */
export async function runOnMac(shell: Shell, name: string, text: string): Promise<Done> {
  const mac = wholeMac(shell, name.replace(/^script /, ''));
  const { root } = mac;
  const plainRoot = join(dirname(root.folder), 'plain');
  symlinkSync(root.folder, plainRoot);
  try {
    const path = ownPath(name);
    const placed = text.replaceAll(anyRoot, plainRoot);
    if (path !== undefined) root.file(path, placed);
    const typed = path === undefined ? placed : `exec /bin/sh '${plainRoot}/${path}'`;
    const { code, result, stdout, stderr } = await root.run(
      `R='${plainRoot}' HOME='${plainRoot}/Users/mesh'\nexport R HOME\n${typed}`,
    );
    const steady = steadily(plainRoot, root.folder, dirname(root.folder));
    return {
      exit: code ?? result.kind,
      stdout: steady(stdout),
      // How often a script tries again depends on time.
      stderr: [...new Set(steady(stderr).split('\n'))].join('\n'),
      tree: [...treeOf(root.folder), ...treeOf(join(dirname(root.folder), 's'))].map(steady).sort(),
    };
  } finally {
    root.remove();
  }
}

/** Without the folders and process numbers of one run. */
const steadily =
  (...folders: readonly string[]) =>
  (text: string): string =>
    folders
      .reduce((shown, folder) => shown.replaceAll(folder, ''), text)
      .replaceAll(/\bbusy\.(?:[0-9a-f]+\.\d\.)?\d+/g, 'busy.PID')
      .replaceAll(/(?<=[./-])\d{2,7}(?=[\s/]|$)/gm, 'PID')
      .replaceAll(/(?<=\/pid \d{3} |\bpid=)\d{2,7}\b/g, 'PID');

/** Everything below a folder, by what a script can change of it; not the text of the one that ran. */
function treeOf(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below))
    .sort()
    .flatMap((name) => {
      const path = join(below, name);
      const stat = lstatSync(join(folder, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(folder, path))}`];
      if (stat.isDirectory()) return [`${path}/ ${mode}`, ...treeOf(folder, path)];
      const content = readFileSync(join(folder, path), 'utf8');
      const isOwnText = path.endsWith('/run') || path.endsWith('/keep') || path.endsWith('/roll');
      return [`${path} ${mode} ${isOwnText ? '' : contentOf(path, content)}`];
    });
}

/** Tools of a Mac name the folder of the test, and no script changes them. */
const contentOf = (path: string, content: string): string => (/^(?:usr|bin|sbin|opt\/llama)/.test(path) ? '' : content);

/** Names of texts that differ from those kept, or are new or gone. */
export function changedTexts(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): { readonly changed: readonly string[]; readonly gone: readonly string[]; readonly added: readonly string[] } {
  const names = Object.keys(before);
  return {
    changed: names.filter((name) => now[name] !== undefined && now[name] !== before[name]),
    gone: names.filter((name) => now[name] === undefined),
    added: Object.keys(now).filter((name) => before[name] === undefined),
  };
}
