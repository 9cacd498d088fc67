import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allProbes } from '../../../../src/engine/observe/facts.ts';
import { knownDaemons } from '../../../../src/model/facts/daemons.ts';
import { renderPath, tool } from '../../../../src/node/paths/node-paths.ts';
import { until } from '../../../until.ts';
import { isAlive, makeNodeRoot, type NodeRoot, removedAfter } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

/** The exit status of a probe on which the observation's watchdog has given up. */
const givenUp = 142;

/** Probes that are scripts and wait for tools. */
const scripts = allProbes().flatMap(({ name, ask: [, option, script] }) =>
  option === '-c' && typeof script === 'string' && script.includes(' ALRM ') ? [{ name, script }] : [],
);

const newRoot = removedAfter(makeNodeRoot);

/**
 * Tools that answer immediately. Tools that a probe runs in the foreground must not hang here: the shell would handle
 * no signal.
 */
const quick = /\/(?:awk|base64|cat|head|mkdir|ps|rm|rmdir|sh|sleep|stat|tail|wc)$/;

/** Creates a node on which every probe has something to query, and every tool that it waits for hangs. */
function hangingNode(shell: Shell): NodeRoot {
  const root = newRoot(shell);
  for (const path of Object.values(tool).map((one) => renderPath(one, ''))) {
    if (!quick.test(path)) root.tool(path.slice(1), 'exec /bin/sleep 600');
  }
  root.tool('usr/bin/awk', 'exec /usr/bin/awk "$@"');
  root.tool('usr/sbin/netstat', 'printf "tcp4 0 0 *.8080 *.* LISTEN\\n"');
  const record = ['rank=0', 'endpointPort=8080', 'tokenPath=/v1/chat/completions', 'tokenDeadlineMs=5000'];
  root.file('Library/Application Support/meshwright/placements/kimi/record', `${record.join('\n')}\n`);
  for (const label of ['dev.meshwright.keeper', ...knownDaemons.map((one) => one.label)]) {
    root.file(`Library/LaunchDaemons/${label}.plist`, '');
  }
  return root;
}

describe.each(scriptShells)('a hanging tool in $name', (shell) => {
  it.each(scripts)('is stopped together with the $name probe, which exits as abandoned', async ({ script }) => {
    const root = hangingNode(shell);
    const folder = join(root.folder, 'private');
    mkdirSync(folder);
    const [command, ...options] = shell.argv;
    const child = spawn(command, [...options, script], {
      cwd: folder,
      env: { R: root.folder, PATH: '/nowhere' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    await until(() => root.started().some(({ tool: name }) => !quick.test(`/${name}`) && !name.endsWith('/netstat')));
    child.kill('SIGALRM');
    expect(await once(child, 'close')).toEqual([givenUp, null]);
    // This line would mark the answer as complete.
    expect(stdout).not.toMatch(/^end$/m);
    await until(() => root.started().every(({ pid }) => !isAlive(pid)));
  });
});
