import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { powerCycle } from '../../../../src/cli/apply/power-cycle.ts';
import { exitCode } from '../../../../src/cli/exit-codes.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { loadOrCreateKey } from '../../../../src/sim/hosts/ssh/host-keys.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { eventually } from '../../../until.ts';
import { fakeRun } from '../console-of.ts';

const { path: folder, at, write } = temporaryFolder();
// It reads the state before it logs, so that a test can change the state as soon as it sees the log.
write('pdu', '#!/bin/sh\n[ "$1" != state ] || cat state\necho "$*" >>log\n[ "$1" = state ] || exit "$2"\n', 0o700);
// Without a key, no Mac is contacted, and nothing shows whether it answers.
await loadOrCreateKey(at('key'), 'test');
const log = (): readonly string[] => readFileSync(at('log'), 'utf8').split('\n').slice(0, -1);
const programs = ['off 0', 'on 0', 'state 0'].map((words) => `program=./pdu ${words}`);

afterEach(() => write('log', ''));
write('log', '');

/** Power-cycles a Mac whose name does not resolve, so it never answers. Its PDU reports this state. */
async function cycle(state: string, { trust = programs, host = 'rack.invalid', outlet = '0', signal = never } = {}) {
  write('state', state);
  const text = `schema: 1
name: rack
nodes: { a: { host: ${host}, user: mesh, identityFile: key, outlet: pdu/${outlet} } }
pdus: { pdu: { driver: command, powerOn: [./pdu, "on", "{outlet}"], powerOff: [./pdu, "off", "{outlet}"], powerState: [./pdu, state, "{outlet}"] } }
`;
  write('cluster.yaml', text);
  const { fleet } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined) throw new Error('the file has errors');
  const env = { PATH: process.env['PATH'], HOME: folder, MESHWRIGHT_STATE: at('state-folder') };
  const options = { parallel: 4, deadline: 5_000, color: false, trust };
  const { run } = fakeRun({ folder, env, options, signal });
  try {
    return await powerCycle(run, { desired: fleet, nodes: [nodeName('a')], awaitReturn: () => Promise.resolve(false) });
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return `${error.diagnostics[0].code}: ${plainText(error.diagnostics[0].detail)}`;
  }
}
const never = new AbortController().signal;

describe('the power cycle of a Mac by the programs in the file', () => {
  it('runs none of them without trust', async () => {
    expect(await cycle('off', { trust: programs.slice(1) })).toMatch(
      /^trust\/needed: .*\.\/pdu off 0 {3}for the power/s,
    );
    expect(log()).toEqual([]);
  });

  it('is refused for the Mac on which it runs', async () => {
    for (const host of [hostname(), '127.0.0.1'])
      expect(await cycle('off', { host })).toBe(`outlet/this-computer: Its address is ${host}.`);
    expect(log()).toEqual([]);
  });

  it('switches the outlet on again if its state is not off, and tries that twice', async () => {
    expect(await cycle('4 is OFF')).toBe(
      'outlet/command-failed: ./pdu state 0: It did not print only `on`. So the outlet of a may not be on.',
    );
    const on = ['on 0', 'state 0'];
    expect(log()).toEqual(['off 0', 'state 0', ...on, ...on]);
  });

  it('switches the outlet on again if a program fails', async () => {
    const trust = programs.map((one) => one.replace(/0$/, '3'));
    expect(await cycle('on', { trust, outlet: '3' })).toBe(
      'outlet/command-failed: ./pdu on 3: `./pdu` exited with status 3. So the outlet of a may not be on.',
    );
    expect(log()).toEqual(['off 3', 'on 3', 'on 3']);
  });

  it('switches the outlet on again if it is interrupted', async () => {
    const interrupt = new AbortController();
    const cycled = cycle('OFF\n', { signal: interrupt.signal });
    expect(await eventually(async () => log().includes('state 0'))).toBe(true);
    write('state', 'On\n');
    interrupt.abort();
    expect(await cycled).toBe(exitCode.failed);
    expect(log()).toEqual(['off 0', 'state 0', 'on 0', 'state 0']);
  });
});
