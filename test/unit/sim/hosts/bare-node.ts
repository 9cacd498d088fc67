import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createNodeRoot } from '../../../../src/sim/hosts/node-root.ts';
import { execEnvironment, homeOf } from '../../../../src/sim/hosts/ssh/ssh-user.ts';

/** The root of a node with base tools only, in a folder whose name has a space and a quote. */
export async function bareNode() {
  const folder = await mkdtemp(join(tmpdir(), "mw it's "));
  const root = join(folder, 'node 1');
  const askPath = join(folder, 'ask.sock');
  const node = await createNodeRoot({ root, user: 'mesh', userKey: 'ssh-ed25519 AAAA', askPath });
  await node.update([]);
  const state = new Map<string, string>();
  const home = homeOf(root, 'mesh');
  const options = (mark = 'test.node.0') => ({
    cwd: home,
    env: { ...execEnvironment({ root, user: 'mesh', mark }), R: root },
  });
  /** Runs a program of the node with this input, while this process continues serving. */
  async function run(program: string, words: readonly string[], input = '') {
    const child = spawn(program, words, { ...options(), stdio: 'pipe' });
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin.on('error', () => undefined).end(input);
    const [code, out, err] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
    return { code, out: out.toString(), err: err.toString() };
  }
  return {
    folder,
    root,
    /** The socket on which the node's tools expect the simulator. */
    askPath,
    options,
    run,
    /** The path of a file in the user's home. */
    home: (name: string): string => join(home, name),
    /** Writes one of the files in which the tools find the state of the Mac. */
    setState: (name: string, text: string) => {
      state.set(`/.sim/${name}`, text);
      return node.update([...state].map(([path, text]) => ({ path, text, isExecutable: false })));
    },
    /** Runs a script like a command over SSH. Returns its output and the commands recorded as unknown. */
    sh: async (script: string, input = '') => {
      const ended = await run('/bin/sh', ['-c', script], input);
      const unknown = (await readFile(join(root, '.sim/unknown'), 'utf8')).trimEnd();
      await writeFile(join(root, '.sim/unknown'), '');
      return { ...ended, unknown };
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}
