/** A node's folder with small fake tools; a real shell runs scripts in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type Shell, scriptShells } from './shells.ts';

/** The base tools that an observation uses; each calls the tool of this computer. */
const baseTools = ['bin/cat', 'bin/date', 'bin/ps', 'bin/rm', 'bin/sh', 'bin/sleep', 'usr/bin/mktemp', 'usr/bin/wc'];

/** A node's folder. */
export interface NodeRoot {
  readonly folder: string;
  /** Installs a tool; `body` is plain sh. */
  tool(path: string, body: string): void;
  file(path: string, content: string): void;
  /** The names and pids of all tools started so far, in order. */
  started(): readonly { readonly tool: string; readonly pid: number }[];
  /** Every file and folder with its content, except the record of started tools. */
  tree(): readonly string[];
  remove(): void;
}

/** The path of this computer's tool with the same name. */
export function hostTool(path: string): string {
  const name = path.replace(/.*\//, '');
  return existsSync(`/bin/${name}`) ? `/bin/${name}` : `/usr/bin/${name}`;
}

/** Creates a folder. `shell` is installed as its `/bin/sh`; each tool records its name and pid when it starts. */
export function makeNodeRoot(shell: Shell | undefined = scriptShells[0], name = 'node'): NodeRoot {
  const parent = mkdtempSync(join(tmpdir(), 'script-test-'));
  const folder = join(parent, name);
  const record = join(parent, 'started');
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const tool = (path: string, body: string): void => {
    write(path, `#!/bin/sh\nprintf '%s %s\\n' '${path}' "$$" >>'${record.replaceAll("'", "'\\''")}'\n${body}\n`);
    chmodSync(join(folder, path), 0o755);
  };
  for (const path of baseTools) tool(path, `exec ${hostTool(path)} "$@"`);
  if (shell !== undefined) tool('bin/sh', `exec ${shell.argv.slice(0, -1).join(' ')} "$@"`);
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  writeFileSync(record, '');
  return {
    folder,
    tool,
    file: write,
    started: () =>
      readFileSync(record, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => ({ tool: line.split(' ')[0] ?? '', pid: Number(line.split(' ')[1]) })),
    tree: () => treeOf(folder, '.'),
    remove: () => rmSync(parent, { recursive: true, force: true }),
  };
}

/** Wraps a function so that the roots that it creates are removed after the tests of the file. */
export function removedAfter<Words extends readonly unknown[], Root extends NodeRoot>(
  make: (...words: Words) => Root,
): (...words: Words) => Root {
  const roots: Root[] = [];
  afterAll(() => {
    for (const root of roots) root.remove();
  });
  return (...words) => {
    const root = make(...words);
    roots.push(root);
    return root;
  };
}

/** A file that is removed during the listing counts as gone. */
function treeOf(root: string, path: string): readonly string[] {
  try {
    return linesOf(root, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function linesOf(root: string, path: string): readonly string[] {
  const full = join(root, path);
  const stat = statSync(full);
  const mode = stat.mode.toString(8);
  if (!stat.isDirectory()) return [`${path} ${mode} ${readFileSync(full, 'utf8')}`];
  const names = readdirSync(full).sort();
  return [`${path}/ ${mode}`, ...names.flatMap((name) => treeOf(root, join(path, name)))];
}

/** The result of a script. */
export interface ScriptEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Starts a script; `end` resolves when the script has exited and its streams are closed. */
export function startScript(
  shell: Shell,
  script: string,
  env: NodeJS.ProcessEnv = process.env,
): { readonly child: ChildProcess; readonly end: Promise<ScriptEnd> } {
  const [command, ...options] = shell.argv;
  const child = spawn(command, [...options, script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  const end = new Promise<ScriptEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString('utf8') }),
    );
  });
  return { child, end };
}

/** True if the process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
