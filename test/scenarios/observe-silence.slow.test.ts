import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { codes } from '../../src/engine/diagnose/rules.ts';
import { allProbes } from '../../src/engine/observe/facts.ts';
import { observeCommand } from '../../src/node/observe-script.ts';
import { type FaultName, faultNames, faults } from '../../src/sim/faults/faults.ts';
import { triedFaults } from '../contract/fault-rows.ts';
import { shared } from '../rack/kept-running.ts';
import { run } from '../rack/running.ts';
import { startExampleRack } from './observe-rack.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const rack = shared(() => startExampleRack());

/** An example target in the rack for each form of target. */
const targetOf = (fault: FaultName): string =>
  faults[fault].targets.startsWith('NODE:RECEPTACLE')
    ? 'studio-1:2'
    : faults[fault].targets.split(' ')[0] === 'NODE:R1,NODE:R2'
      ? 'studio-1:2,studio-1:3'
      : 'studio-1';

/** Everything that reaches a client from one node: banner, both streams, exit, and errors. */
function everythingFrom(node: string): Promise<string> {
  const { port = 0, user = '', root = '' } = rack.fleet.nodes[node] ?? {};
  const heard: string[] = [];
  const client = new ssh2.Client();
  const command = observeCommand({ probes: allProbes(), boundary, rootPrefix: root });
  client.on('banner', (text) => heard.push(text));
  client.on('error', (error) => heard.push(error.message));
  client.once('ready', () => {
    run(client, command).then(
      (ran) => {
        heard.push(ran.stdout, ran.stderr, `exit ${ran.code} ${ran.signal}`);
        client.end();
      },
      (error: unknown) => heard.push(String(error)),
    );
  });
  const { privateText } = rack.fleet.userKey;
  client.connect({ host: '127.0.0.1', port, username: user, privateKey: privateText, readyTimeout: 60_000 });
  return new Promise((resolve) => {
    client.once('close', () => resolve(heard.join('\n')));
  });
}

/** Every prepared answer on a node. */
async function answersOn(node: string): Promise<string> {
  const folder = join(rack.fleet.nodes[node]?.root ?? '', '.sim/answers');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))).join('\n');
}

/**
 * Names in the simulator and the product that would reveal the solution if a node printed them. For codes, this
 * includes the part after the slash, unless it is a plain English word.
 */
const slugs = Object.keys(codes).map((code) => code.slice(code.indexOf('/') + 1));
const names = [
  ...Object.keys(codes),
  ...slugs.filter((slug) => slug.includes('-')),
  ...faultNames.flatMap((name) => [name, name.replaceAll('-', '_')]),
];

const namesIn = (text: string): readonly string[] => names.filter((name) => text.toLowerCase().includes(name));

describe("the nodes' output", () => {
  it.each(triedFaults)('does not name a fault or diagnostic under %s', async (fault) => {
    const target = targetOf(fault);
    const before = await everythingFrom('studio-1');
    const answer = await rack.fleet.setFault([fault, target]);
    expect(answer.kind).toBe('done');
    const heard = await Promise.all(rack.names.map(everythingFrom));
    const answers = await Promise.all(rack.names.map(answersOn));
    await rack.fleet.clearFault([]);
    for (const text of [before, ...heard, ...answers]) expect(namesIn(text)).toEqual([]);
    expect(before.length).toBeGreaterThan(10_000);
  });

  it('is caught by this test if it names a fault or diagnostic', () => {
    expect(namesIn('status: RDMA-disabled')).toEqual(['rdma-disabled']);
    expect(namesIn('see ssh/host-key-changed').length).toBeGreaterThan(0);
  });
});
