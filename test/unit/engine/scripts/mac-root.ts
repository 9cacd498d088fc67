/**
 * A node's folder with every tool that node scripts use: the tool of this computer, or a small stand-in with a state.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { readScriptResult, type ScriptResult } from '../../../../src/node/root-script.ts';
import { accountTool, rulesTool } from './directory-tool.ts';
import { hostTool, makeNodeRoot, type NodeRoot } from './node-root.ts';
import { exampleFence, inScript } from './script-examples.ts';
import type { Shell } from './shells.ts';

/** Tools that behave here as on a Mac, as far as the scripts use them. */
const sameTools = [
  'bin/chmod',
  'bin/ln',
  'bin/mkdir',
  'bin/rmdir',
  'bin/sync',
  'usr/bin/awk',
  'usr/bin/base64',
  'usr/bin/cksum',
  'usr/bin/curl',
  'usr/bin/find',
  'usr/bin/head',
  'usr/bin/perl',
  'usr/bin/readlink',
  'usr/bin/shasum',
  'usr/bin/tail',
  'usr/bin/tar',
];

/** Options that are spelled differently on Linux; on a Mac, nothing is translated. */
const translated: Readonly<Record<string, string>> =
  process.platform === 'darwin'
    ? {}
    : {
        'bin/mv': 'case $1 in (-fh) shift; set -- -fT "$@" ;; esac\n',
        'bin/cp': 'case $1 in (-c) shift ;; (-cp) shift; set -- -p "$@" ;; esac\n',
        'usr/bin/stat': `l=
case $1 in (-L) l=-L; shift ;; esac
case $2 in (%z) f=%s ;; (%m) f=%Y ;; (%Lp) f=%a ;; ('%Lp %N') f='%a %n' ;; (%u) f=%u ;; (%d) f=%d ;; ('%d %z %N') f='%d %s %n' ;; ('%d %z ./%N') f='%d %s ./%n' ;; ('%d %i %z %m %c %N') f='%d %i %s %Y %Z %n' ;; ('%i %z') f='%i %s' ;; ('%i %l') f='%i %h' ;; (*) exit 64 ;; esac
shift 2
set -- $l -c "$f" "$@"
`,
        // A file whose name ends in `.acl` has an access list.
        'usr/bin/find':
          'for o; do shift; case $o in (-acl) set -- "$@" -name "*.acl" ;; (*) set -- "$@" "$o" ;; esac; done\n',
        'usr/bin/base64': 'set -- -w0\n',
        'usr/bin/tar': 'PATH=/usr/bin:/bin\n',
      };

/** The node's boot session. */
export const bootSession = 'F2B1C3D4-0000-4000-8000-000000000001';

/** The folder of meshwright on a node. */
export const ours = 'Library/Application Support/meshwright';

/** The result of a script, as parsed by the product and raw. */
export interface MacEnd {
  readonly result: ScriptResult;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A node's folder. */
export interface MacRoot extends NodeRoot {
  /** Every call of a tool installed by {@link recorded}, as `name arguments`. */
  calls(): readonly string[];
  /** Installs a tool whose calls are recorded. */
  recorded(path: string, body: string): void;
  /** Sends a text to a shell on standard input. */
  run(text: string): Promise<MacEnd>;
  /** Runs a body in a complete script, under the lease that {@link makeMacRoot} created. */
  runBody(body: string): Promise<MacEnd>;
  read(path: string): string;
  has(path: string): boolean;
}

/** Runs a node script through {@link MacRoot.runBody}. */
export const run = async (root: MacRoot, call: ScriptCall): Promise<ScriptResult> =>
  (await root.runBody(scriptBody(call))).result;

/** The results of scripts that print nothing else. */
export const changed: ScriptResult = { kind: 'done', isChanged: true, said: [] };
export const unchanged: ScriptResult = { kind: 'done', isChanged: false, said: [] };

/** Creates a node with an empty disk and a lease of the run in the examples. */
export function makeMacRoot(shell: Shell): MacRoot {
  const root = makeNodeRoot(shell, "node 1's");
  const log = join(root.folder, '../calls');
  writeFileSync(log, '');
  const recorded = (path: string, body: string): void =>
    root.tool(path, `printf '%s\\n' '${path.replace(/.*\//, '')} '"$*" >>"$R/../calls"\n${body}`);
  for (const path of [...sameTools, ...Object.keys(translated)]) {
    root.tool(path, `${translated[path] ?? ''}exec ${hostTool(path)} "$@"`);
  }
  for (const path of ['bin/mv', 'bin/cp', 'usr/bin/stat']) {
    if (translated[path] === undefined) root.tool(path, `exec ${hostTool(path)} "$@"`);
  }
  recorded('usr/sbin/chown', 'exit 0');
  root.tool('usr/bin/id', accountTool('$R/../s'));
  root.tool('usr/bin/sudo', rulesTool('$R/../s'));
  root.tool('usr/sbin/sysctl', sysctlBody);
  root.file(`${ours}/lease/owner`, `run=${exampleFence.run}\ntoken=${exampleFence.token}\nowner=ana\n`);
  const run = (text: string): Promise<MacEnd> => runText(shell, text);
  return {
    ...root,
    recorded,
    run,
    runBody: (body) => run(inScript(body, root.folder)),
    calls: () => readFileSync(log, 'utf8').split('\n').slice(0, -1),
    read: (path) => readFileSync(join(root.folder, path), 'utf8'),
    has: (path) => existsSync(join(root.folder, path)),
    file: (path, content) => {
      mkdirSync(dirname(join(root.folder, path)), { recursive: true });
      writeFileSync(join(root.folder, path), content);
    },
  };
}

const sysctlBody = `case $*: in
('-n kern.bootsessionuuid':) [ -e "$R/../boot" ] && exec /bin/cat "$R/../boot"; printf '${bootSession}\\n' ;;
('-n iogpu.wired_limit_mb':) /bin/cat "$R/../wired" 2>/dev/null || printf '0\\n' ;;
(iogpu.wired_limit_mb=*:) printf '%s\\n' "\${1#*=}" >"$R/../wired" ;;
(*) exit 64 ;;
esac`;

function runText(shell: Shell, text: string): Promise<MacEnd> {
  const [command, ...options] = shell.argv;
  const child = spawn(command, [...options.slice(0, -1), '-s'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const exit =
        code === null ? ({ kind: 'signalled', signal: signal ?? '' } as const) : ({ kind: 'exited', code } as const);
      resolve({ result: readScriptResult({ exit, stdout, stderr }), code, stdout, stderr });
    });
  });
}
