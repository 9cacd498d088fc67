import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { downloadByProgram, updateProgram } from '../../../../src/cli/apply/update-drivers.ts';
import { settleFromLock } from '../../../../src/cli/cluster/settle-cluster.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { fakeRun } from '../console-of.ts';

const { path: folder, at, write } = temporaryFolder();
write('mdm', '#!/bin/sh\necho "$* ${MESH_PW-hidden}" >>log\nread -r line || echo eof >>log\n. ./body\n', 0o700);
write(
  'cluster.yaml',
  `schema: 1
name: rack
ssh: { user: mesh, password: { env: MESH_PW } }
macos:
  version: "26.7"
  updates: { driver: command, command: [./mdm, "{phase}", "{node}@{host}", "{version} {build}"] }
nodes: { a: { host: a.lan }, b: { host: b.lan } }
`,
);
const trusted = "program=./mdm '{phase}' '{node}@{host}' '{version} {build}'";

/** The program for this Mac, after which the file `log` has what it was given. */
async function program(body: string, { trust = [trusted], sim = false } = {}) {
  write('body', body);
  write('log', '');
  const env = { PATH: process.env['PATH'], HOME: folder, MESHWRIGHT_STATE: at('state'), MESH_PW: 'secret' };
  const { run } = fakeRun({ folder, env, options: { parallel: 4, deadline: 5_000, color: false, trust, sim } });
  const cluster = settleFromLock(run);
  const { updateDriver } = cluster.fleet.macos;
  if (typeof updateDriver !== 'object') throw new Error('the file names a program');
  return { runProgram: await updateProgram(run, cluster, updateDriver, '26.7'), nodes: cluster.fleet.nodes };
}

async function order(body: string) {
  const { runProgram, nodes } = await program(body);
  const [node] = nodes;
  if (node === undefined) throw new Error('the file has a node');
  return runProgram('install', node, '25G229');
}

const log = (): string => readFileSync(at('log'), 'utf8');

describe('the program that installs macOS updates', () => {
  it('does not run unless the caller trusts it', async () => {
    const refused = await program('exit 0', { trust: [] }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FleetError);
    expect(refused instanceof FleetError && refused.diagnostics[0].code).toBe('trust/needed');
    expect(log()).toBe('');
  });

  it('gets the phase, the Mac and the exact build as words, no input, and no secret of the file', async () => {
    expect(await order('exit 0')).toEqual({ kind: 'ordered' });
    expect(log()).toBe('install a@a.lan 26.7 25G229 hidden\neof\n');
  });

  it('has ordered nothing if it exits with another status', async () => {
    expect(await order('exit 3')).toEqual({ kind: 'refused', why: '`./mdm` exited with status 3.' });
  });

  it('may have ordered the update if something stopped it', async () => {
    expect(await order('kill -TERM $$')).toEqual({ kind: 'unknown', why: '`./mdm` was stopped by signal SIGTERM.' });
  });

  it('downloads for all Macs, and names those on which that failed', async () => {
    const { runProgram, nodes } = await program('case "$2" in (b*) exit 4 ;; esac');
    const update = { label: 'macOS Tahoe 26.7-25G229', title: 'macOS Tahoe 26.7', version: '26.7', build: '25G229' };
    const problems = await downloadByProgram(
      runProgram,
      nodes.map((node) => ({ node, update })),
    );
    expect(problems.map(({ code, detail }) => `${code}: ${plainText(detail)}`)).toEqual([
      'upgrade/command-failed: The download for b failed. `./mdm` exited with status 4.',
    ]);
    expect(
      log()
        .split('\n')
        .filter((line) => line.startsWith('download ')),
    ).toHaveLength(2);
  });

  it('does not run in a rehearsal', async () => {
    const { runProgram, nodes } = await program('exit 3', { trust: [], sim: true });
    const [node] = nodes;
    expect(node && (await runProgram('download', node, '25G229'))).toEqual({ kind: 'ordered' });
    expect([log(), existsSync(at('state'))]).toEqual(['', false]);
  });
});
