/** The recorded text of every node script, and a way to compare its effects with those of the present text. */
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { allProbes } from '../../../../src/engine/observe/facts.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { stagedArchive, stagedExtra, stagedFile, stagedSource } from '../../../../src/node/paths/own-paths.ts';
import { mutatingScript } from '../../../../src/node/root-script.ts';
import { rulesTool } from './directory-tool.ts';
import { type MacRoot, ours } from './mac-root.ts';
import { everyText, exampleDigest, exampleFence, exampleModel, exampleRuntime } from './script-examples.ts';
import type { Shell } from './shells.ts';
import { wholeMac } from './whole-mac.ts';

const fixture = new URL('../../../cases/node-scripts-before/texts.json.gz', import.meta.url);

/** Replaces the root prefix of a node in stored texts. */
const anyRoot = '/ROOT-OF-A-NODE';

const note = { step: 'studio-1 power', verb: 'apply', by: 'ana@desk', config: 'cafe' };

/** Every text that a node receives, including the frames of root scripts that no example has. */
export function nodeTexts(rootPrefix = anyRoot): Readonly<Record<string, string>> {
  const frame = { rootPrefix, fence: exampleFence, note, body: 'changed' };
  return {
    ...Object.fromEntries(uniquely(everyText(rootPrefix))),
    'frame that settles a rollback': mutatingScript({ ...frame, isSettling: true }),
    'frame that is the last one': mutatingScript({ ...frame, isLast: true }),
    'first attempt': mutatingScript({ ...frame, sending: { key: 'c0ffee', attempt: 1 } }),
    observation: observeScript({ rootPrefix, boundary: '0'.repeat(32), probes: allProbes() }),
  };
}

/** Examples of the same job get numbers. */
const uniquely = (texts: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] =>
  texts.map(([name, text], at) => {
    const before = texts.slice(0, at).filter(([other]) => other === name).length;
    return [before === 0 ? name : `${name} ${before + 1}`, text];
  });

/** The recorded texts. */
export const textsBefore = (): Readonly<Record<string, string>> =>
  JSON.parse(gunzipSync(readFileSync(fixture)).toString('utf8'));

/** Records the present texts. */
export function keepTexts(): void {
  mkdirSync(new URL('../../script', fixture), { recursive: true });
  writeFileSync(fixture, gzipSync(JSON.stringify(nodeTexts(), null, 1), { level: 9 }));
}

/** Every effect of a script that can be compared afterwards. */
export interface Done {
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
  /** Each file, folder and link, with mode, content and target. */
  readonly tree: readonly string[];
}

/** The path of a text that finds its folder by its path; other texts come on standard input. */
const ownPath = (name: string): string | undefined => {
  if (name.startsWith('job ')) return `${ours}/ops/example/run`;
  if (name === 'round of the keeper') return `${ours}/keeper/keep`;
  return name === 'waiting for a confirmation' ? `${ours}/rollback/pending/roll` : undefined;
};

/** Runs a text on a separate Mac, on which the script of that name has something to do. */
export async function runOnMac(shell: Shell, name: string, text: string): Promise<Done> {
  const mac = wholeMac(shell, name.replace(/^script /, ''));
  const { root } = mac;
  const plainRoot = join(dirname(root.folder), 'plain');
  symlinkSync(root.folder, plainRoot);
  if (name.startsWith('job ')) giveJobs(root, name);
  try {
    const path = ownPath(name);
    const placed = text.replaceAll(anyRoot, plainRoot);
    if (path !== undefined) root.file(path, placed);
    const typed = path === undefined ? placed : `exec /bin/sh '${plainRoot}/${path}'`;
    const { code, result, stdout, stderr } = await root.run(
      `R='${plainRoot}' HOME='${plainRoot}/Users/mesh'\nexport R HOME\n${typed}`,
    );
    const paths = steadily(plainRoot, root.folder, dirname(root.folder));
    // How many bytes a running program has written depends on timing.
    const steady = (shown: string): string =>
      name === 'job prepare-rank' ? paths(shown).replace(/(?<=\/progress \d{3} )\d+/, 'BYTES') : paths(shown);
    const complaints = steady(stderr).replaceAll(/: \d+: /g, ': LINE: ');
    return {
      exit: code ?? result.kind,
      stdout: steady(stdout),
      // The number of retries depends on timing, and so does the order of messages from two processes.
      stderr: [...new Set(complaints.split('\n'))].sort().join('\n'),
      tree: [...treeOf(root.folder), ...treeOf(join(dirname(root.folder), 's'))].map(steady).sort(),
    };
  } finally {
    root.remove();
  }
}

/** Replaces the folders and PIDs of one run in a text. */
const steadily =
  (...folders: readonly string[]) =>
  (text: string): string =>
    folders
      .reduce((shown, folder) => shown.replaceAll(folder, ''), text)
      .replaceAll(/\bbusy\.(?:[0-9a-f]+\.\d\.)?\d+/g, 'busy.PID')
      .replaceAll(/(?<=[./-])\d{2,7}(?=[\s/]|$)/gm, 'PID')
      .replaceAll(/(?<=\/pid \d{3} |\bpid=)\d{2,7}\b/g, 'PID');

/** A uv that creates the files that jobs read from the real one, and records its arguments. */
const uv = `#!/bin/sh
case $1 in
(python) f=$UV_PYTHON_INSTALL_DIR/cpython-3.12/bin; mkdir -p "$f"; printf x >"$f/python3.12"; ln -s cpython-3.12 "$f/../../3.12" ;;
(venv) for v; do :; done; mkdir -p "$v/bin"; ln -s /x "$v/bin/python"; printf 'home = /x\\nversion = 3\\n' >"$v/pyvenv.cfg" ;;
(pip) f=$HOME/venv/lib/python3.12/site-packages; mkdir -p "$f/mlx/lib"; printf ab >"$f/mlx/lib/libmlx.dylib"
  printf '%s\\n' "$@" "$UV_PYTHON_INSTALL_MIRROR" "$TMPDIR" >"$HOME/venv/asked"
  p=; for v; do [ "$p" != --output-file ] || printf 'mlx-lm==1\\n' >"$v"; p=$v; done ;;
esac
`;

/** A CMake that builds both programs of llama.cpp, and prints its arguments. */
const cmake = `printf '%s\\n' "$*"
case $* in
(*'target help') printf '... llama-server\\n... rpc-server\\n' ;;
(--build*) PATH=/bin:/usr/bin; mkdir -p "$2/bin"
  for x in llama-server rpc-server; do printf '\\317\\372\\355\\376\\014\\000\\000\\001' >"$2/bin/$x"; done ;;
esac`;

/**
 * Installs the input of jobs: a model's files, staged and in a folder, and archives of a runtime. Every digest is
 * right.
 */
function giveJobs(root: MacRoot, name: string): void {
  for (const path of ['config.json', "odd names/it's.bin"]) {
    root.file(`Volumes/ana's disk/tiny/${path}`, 'ab');
    root.file(`Volumes/ana's disk/models--acme--tiny/snapshots/1/${path}`, 'ab');
    root.file(stagedFile(exampleModel, path).path, 'ab');
  }
  root.file(stagedFile(exampleModel, 'of another attempt').path, 'ab');
  root.file(stagedExtra(exampleRuntime, 'requirements.lock').path, 'mlx==1');
  root.file(stagedArchive(exampleRuntime, 'dmg').path, 'ab');
  const made = join(dirname(root.folder), 'made');
  mkdirSync(join(made, 'release'), { recursive: true });
  writeFileSync(join(made, 'uv'), uv, { mode: 0o755 });
  writeFileSync(join(made, 'release/llama-server'), 'ab', { mode: 0o755 });
  for (const path of ['uv', 'release/llama-server', 'release']) utimesSync(join(made, path), 0, 0);
  const archive = join(root.folder, stagedArchive(exampleRuntime, 'tar.gz').path);
  execFileSync('tar', ['-cf', archive, '-C', made, 'uv', 'release']);
  if (name === 'job build-archive') {
    root.file(stagedSource(exampleRuntime).path, '');
    execFileSync('tar', ['-cf', join(root.folder, stagedSource(exampleRuntime).path), '-C', made, 'release']);
  }
  const tools = {
    'Library/Developer/CommandLineTools/usr/bin/make': 'exit 2',
    'opt/homebrew/bin/cmake': cmake,
    'usr/bin/xcode-select': "printf '/Library/Developer/CommandLineTools\\n'",
    'bin/df': "printf 'Available\\n1 2 3 999999\\n'",
    'usr/bin/curl': "case $* in (*'-C 1 '*) ;; (*) printf a ;; esac; printf b",
    'usr/bin/ditto': '/bin/cp -R "$1" "$2"',
    'usr/bin/env': 'exec /usr/bin/env "$@"',
    'usr/bin/hdiutil': `case $1 in
(attach) /bin/mkdir -p "$6/EXO.app"; printf ab >"$6/EXO.app/exo"; /bin/chmod 755 "$6/EXO.app/exo" ;;
(*) /bin/rm -rf "$2"/* ;;
esac`,
    'usr/bin/mktemp': 'f=${2%XXXXXX}made; /bin/mkdir "$f" && printf \'%s\\n\' "$f"',
    'usr/bin/shasum': `printf '%s  x\\n' ${exampleDigest}`,
    'usr/sbin/lsof': 'exit 1',
    'usr/bin/sudo': `case $1 in (-n) shift 4; exec "$@" ;; esac\n${rulesTool('$R/../s')}`,
  };
  for (const [path, body] of Object.entries(tools)) root.tool(path, body);
}

/** Everything below a folder that a script can change, without the text of the running script. */
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

/** The contents of a file, but not of tools: these contain the test's folder, and no script changes them. */
const contentOf = (path: string, content: string): string => (/^(?:usr|bin|sbin|opt\/llama)/.test(path) ? '' : content);

/** The names of texts that were changed, removed or added since the recording. */
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
