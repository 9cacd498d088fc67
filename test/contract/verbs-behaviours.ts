import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ClientChannel } from 'ssh2';
import { expect } from 'vitest';
import { nativeProgram } from '../../src/native/program.ts';
import { nativePartsTested } from '../native-parts.ts';
import { connect, eventually, type Ran, run } from '../rack/running.ts';
import type { Behaviour } from './behaviours.ts';
import type { ContractRack } from './contract-rack.ts';

const nodes = ['studio-1', 'studio-2'] as const;

/** The cable studio-1:2 <-> studio-2:2 has this device at both ends. */
const device = 'rdma_en3';
const cable = 'studio-1:2';

const program = '"$R/private/tmp/meshwright-probe"';

/** Uploads the native program to a Mac. Returns the index of the GID with the cable's address. */
async function upload({ fleet, user }: ContractRack, node: string): Promise<number> {
  const bytes = readFileSync(nativeProgram(process.platform, process.arch) ?? '').toString('base64');
  const client = await connect(fleet, node);
  const root = fleet.nodes[node]?.root ?? '';
  const command = `R='${root}'; "$R/usr/bin/base64" -D >${program} && "$R/bin/chmod" 755 ${program}`;
  expect(await run(client, command, bytes)).toMatchObject({ code: 0, stderr: '' });
  client.end();
  const report = JSON.parse((await user(node, program)).stdout);
  const found = report.value.find((one: { readonly device: string }) => one.device === device);
  return found.ports[0].mappedGidIndex;
}

/** Starts one end of the link test. */
async function startEnd({ fleet }: ContractRack, node: string, words: string) {
  const client = await connect(fleet, node);
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    const command = `R='${fleet.nodes[node]?.root ?? ''}'; exec ${words}`;
    client.exec(command, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  let heard = '';
  let errors = '';
  channel.on('data', (bytes: Buffer) => {
    heard += bytes.toString();
  });
  channel.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const closed = once(channel, 'close').then(([code]): Omit<Ran, 'signal'> => {
    client.end();
    return { code, stdout: heard, stderr: errors };
  });
  return { channel, closed, heard: () => heard };
}

/** Measures the cable, from root on the first Mac to the ssh user on the second. */
async function measure(rack: ContractRack, gids: readonly number[], whileOpen = async (): Promise<void> => undefined) {
  const words = (at: 0 | 1, role: string) => `${program} measure ${device} ${gids[at]} ${role} 0.2`;
  const ends = [
    await startEnd(rack, nodes[0], `"$R/usr/bin/sudo" -n ${words(0, 'lead')}`),
    await startEnd(rack, nodes[1], words(1, 'follow')),
  ] as const;
  expect(await eventually(() => ends.every(({ heard }) => heard().endsWith('\n')))).toBe(true);
  await whileOpen();
  for (const [from, to] of [ends, [ends[1], ends[0]]] as const) {
    to.channel.write(from.heard());
    from.channel.on('data', (bytes: Buffer) => to.channel.write(bytes));
    from.channel.on('end', () => to.channel.end());
  }
  return Promise.all(ends.map(({ closed }) => closed));
}

/** The kernel's count of protection domains and queue pairs, on both Macs. */
const expectCounts = async ({ user }: ContractRack, count: number): Promise<void> => {
  const names = ['AppleThunderboltRDMAProtectionDomain', 'AppleThunderboltRDMAQueuePair'];
  for (const node of nodes) {
    const { stdout } = await user(node, `"$R/usr/sbin/ioclasscount" ${names.join(' ')}`);
    expect(stdout).toBe(`${names.map((name) => `${name} = ${count}`).join(', ')}\n`);
  }
};

/** The megabits per second that an end received, or 0. */
function rateOf({ stdout }: Pick<Ran, 'stdout'>): number {
  const [, bytes = 0, ns = 1] = /^received \d+ (\d+) (\d+) 0$/m.exec(stdout)?.map(Number) ?? [];
  return (8_000 * bytes) / ns;
}

const measuring: Behaviour = {
  title: 'has a verbs library with which a program measures a cable, and whose objects the kernel counts',
  check: async (rack) => {
    const gids = [await upload(rack, nodes[0]), await upload(rack, nodes[1])];
    await expectCounts(rack, 0);
    const ends = await measure(rack, gids, () => expectCounts(rack, 1));
    expect(ends).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    for (const end of ends) expect(rateOf(end)).toBeGreaterThan(0);
    await expectCounts(rack, 0);
    await rack.fleet.setFault(['cable-slow', cable]);
    // A tenth of 800 Mb/s. On a busy machine, the first message can arrive late.
    for (const end of await measure(rack, gids)) expect(rateOf(end)).toBeLessThan(160);
    await rack.fleet.setFault(['idle-dead-port', cable]);
    const [dead] = await measure(rack, gids);
    expect(dead?.stdout).toMatch(/\nfailed ibv_modify_qp to RTR failed with error 60\n$/);
  },
};

export const verbsBehaviours: readonly Behaviour[] = nativePartsTested ? [measuring] : [];
