import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, eventually, run, startRack } from '../rack/running.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
/** For each rank, the address of its end of the cable to the previous rank. The rack has the pool 10.77.0.0/24. */
const addresses = ['10.77.0.9', '10.77.0.2', '10.77.0.14', '10.77.0.22'];
const peers = addresses.map((address) => `${address}:51000`).join(',');
const label = 'dev.meshwright.rank.tiny';
const plistPath = `/Library/LaunchDaemons/${label}.plist`;
const weights = 'model-00001-of-00002.safetensors';

let fleet: Fleet;
const rack = shared(() => startRack(startFleet, { desired: desiredRack, seed: 'mesh' }));
beforeAll(async () => {
  fleet = rack.fleet;
  await Promise.all(nodes.map((node, rank) => install(node, rank)));
  for (const node of nodes) await control(node, `bootstrap system "$R${plistPath}"`);
  await startAll();
});

const rootOf = (node: string): string => fleet.nodes[node]?.root ?? '';

/** More seconds than an answer needs on a busy machine. */
const patient = 20;

async function install(node: string, rank: number, deadline = patient): Promise<void> {
  const root = rootOf(node);
  await mkdir(join(root, 'opt/ref/bin'), { recursive: true });
  await writeFile(join(root, 'opt/ref/bin/rank'), doubleText('ranks/rank.pl'));
  await chmod(join(root, 'opt/ref/bin/rank'), 0o755);
  await writeTinyModel(join(root, 'opt/model'), 4_000);
  const words = { rank, size: 4, listen: `${addresses[rank]}:51000`, peers, model: `${root}/opt/model` };
  const more = { endpoint: 8080, generation: 1, deadline };
  const options = Object.entries({ ...words, ...more }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const keys = { ProgramArguments: [`${root}/opt/ref/bin/rank`, ...options], StandardOutPath: `${root}/tmp/out` };
  await writeFile(root + plistPath, jobPlist({ ...keys, StandardErrorPath: `${root}/tmp/err`, Label: label }));
}

async function onNode(node: string, script: string) {
  const client = await connect(fleet, node);
  const ran = await run(client, `R=${rootOf(node)}; ${script}`);
  client.end();
  return ran;
}

async function control(node: string, words: string): Promise<void> {
  const { code, stderr } = await onNode(node, `"$R/usr/bin/sudo" -n "$R/bin/launchctl" ${words}`);
  expect([node, words, code, stderr]).toEqual([node, words, 0, '']);
}

const listens = (node: string, address: string): Promise<boolean> =>
  eventually(async () => (await onNode(node, 'netstat -an -f inet -p tcp')).stdout.includes(`  ${address} `));

async function startAll(): Promise<void> {
  for (const node of nodes) await control(node, `kickstart system/${label}`);
  for (const [rank, node] of nodes.entries()) expect(await listens(node, `${addresses[rank]}.51000`)).toBe(true);
  expect(await listens('studio-1', '127.0.0.1.8080')).toBe(true);
}

/** Restarts the leader, which waits this many seconds for an answer of the others. */
async function restartLeader(deadline: number): Promise<void> {
  await control('studio-1', `bootout system/${label}`);
  await install('studio-1', 0, deadline);
  await control('studio-1', `bootstrap system "$R${plistPath}"`);
  await control('studio-1', `kickstart system/${label}`);
  for (const address of [`${addresses[0]}.51000`, '127.0.0.1.8080']) {
    expect(await listens('studio-1', address)).toBe(true);
  }
}

/** The status and the text of an answer, asked on the leader itself. */
async function ask(): Promise<readonly [number, string]> {
  const request = '{"messages":[{"role":"user","content":"Hello"}]}';
  const ran = await onNode(
    'studio-1',
    `printf %s '${request}' | curl -q -s -S -m 25 -H 'Content-Type: application/json' --data-binary @- -w '\\n%{http_code}' http://127.0.0.1:8080/v1/chat/completions`,
  );
  const [body = '', status = ''] = ran.stdout.split(/\n+(?=\d+$)/);
  const answer = JSON.parse(body);
  return [Number(status), String(answer.choices?.[0].message.content ?? answer.error.message)];
}

async function flip(node: string): Promise<void> {
  const path = join(rootOf(node), 'opt/model', weights);
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(900) ^ 1, 900);
  await writeFile(path, bytes);
}

const digest = expect.stringMatching(/^[0-9a-f]{64}$/);

describe('four ranks of the reference runtime on a simulated rack', () => {
  it("answer together over the rack's cables", async () => {
    const first = await ask();
    expect(first).toEqual([200, digest]);
    expect(await ask()).toEqual(first);
    expect((await fleet.unknown())['studio-1']).toEqual([]);
  });

  it.each(nodes)('change their answer when one byte is flipped on %s', async (node) => {
    const before = await ask();
    await flip(node);
    const after = await ask();
    expect([after[0], after[1] === before[1]]).toEqual([200, false]);
    await flip(node);
    expect(await ask()).toEqual(before);
  });

  it('stop answering when one rank is stopped, until it runs again', async () => {
    const before = await ask();
    await control('studio-3', `kill SIGTERM system/${label}`);
    expect(await eventually(async () => (await ask())[0] === 503)).toBe(true);
    expect((await onNode('studio-1', 'curl -q -s http://127.0.0.1:8080/health')).stdout).toBe('{"status":"ok"}');
    await control('studio-3', `kickstart system/${label}`);
    expect(await listens('studio-3', `${addresses[2]}.51000`)).toBe(true);
    expect(await ask()).toEqual(before);
  });

  it.each([
    ['a pulled cable', ['cable-missing', 'studio-2:3'], 'rank 1 cannot reach 10.77.0.14:51000'],
    ['swapped cable ends', ['cable-swapped', 'studio-1:2,studio-1:3'], 'rank 0 cannot reach 10.77.0.2:51000'],
    ['a bridge', ['bridge-active', 'studio-4'], 'rank 2 cannot reach 10.77.0.22:51000'],
    ['a lost address', ['gid-missing', 'studio-1:4'], 'rank 3 cannot reach 10.77.0.9:51000'],
  ])('stop answering with %s, and answer again without it', async (_, fault, reason) => {
    const before = await ask();
    expect((await fleet.setFault(fault)).kind).toBe('done');
    expect(await ask()).toEqual([503, reason]);
    await fleet.clearFault([]);
    expect(await ask()).toEqual(before);
  });

  it('answer even without a cable between two ranks that do not talk to each other', async () => {
    await fleet.setFault(['cable-missing', 'studio-1:3']);
    expect((await ask())[0]).toBe(200);
    await fleet.clearFault([]);
  });

  it('stop answering while one rank hangs, and answer after its restart', async () => {
    const before = await ask();
    await control('studio-2', `kill SIGUSR1 system/${label}`);
    await restartLeader(2);
    expect(await ask()).toEqual([503, 'the deadline passed']);
    await restartLeader(patient);
    await control('studio-2', `kickstart -k system/${label}`);
    expect(await listens('studio-2', `${addresses[1]}.51000`)).toBe(true);
    expect(await ask()).toEqual(before);
  });

  it('leave no process or listener behind after they are unloaded', async () => {
    for (const node of nodes) await control(node, `bootout system/${label}`);
    for (const node of nodes) {
      const seen = await onNode(node, 'netstat -an -f inet -p tcp; ps -ax -o command=');
      expect(seen.stdout).not.toMatch(/51000|8080|bin\/rank/);
    }
  });
});
