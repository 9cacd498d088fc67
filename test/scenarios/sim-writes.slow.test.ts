import { describe, expect, it } from 'vitest';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, type Ran, run, sh, startRack } from '../rack/running.ts';

const rack = shared(() => startRack(startFleet, { desired: desiredRack, seed: 'writes' }));

const asRoot = (node: string, script: string): Promise<Ran> => sh(rack.fleet, node, script);

async function asUser(node: string, script: string): Promise<Ran> {
  const client = await connect(rack.fleet, node);
  const ran = await run(client, `R=${rack.fleet.nodes[node]?.root ?? ''}; ${script}`);
  client.end();
  return ran;
}

describe('a write on a simulated Mac', () => {
  it("is refused without root in each tool's words", async () => {
    const before = await asUser('studio-2', 'pmset -g custom');
    expect(await asUser('studio-2', 'pmset -a sleep 7')).toMatchObject({
      code: 1,
      stdout: "'/usr/bin/pmset' must be run as root...\n",
    });
    expect(await asUser('studio-2', 'sysctl iogpu.wired_limit_mb=1')).toMatchObject({
      code: 1,
      stdout: 'iogpu.wired_limit_mb: 491520\n',
      stderr: 'sysctl: iogpu.wired_limit_mb=1: Operation not permitted\n',
    });
    expect(await asUser('studio-2', 'pmset -g custom')).toEqual(before);
  });

  it('prints the value that it replaced', async () => {
    const ran = await asRoot(
      'studio-3',
      '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096; "$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb',
    );
    expect(ran.stdout).toBe('iogpu.wired_limit_mb: 245760 -> 4096\n4096\n');
  });

  it("is refused with the tool's usage if an argument is unknown, and is recorded", async () => {
    const ran = await asRoot('studio-4', '"$R/usr/bin/pmset" -a sleep never');
    expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([1, 'Usage: pmset <options>']);
    expect((await rack.fleet.unknown())['studio-4']).toEqual(['/usr/bin/pmset 3:-a sleep never']);
  });

  it('is refused if its process belongs to a different boot session or to no boot session', async () => {
    const script = `MW_SIM=\${MW_SIM%.*}.9 "$R/usr/bin/pmset" -a sleep 3; MW_SIM= "$R/usr/bin/pmset" -a sleep 4
      "$R/usr/bin/pmset" -g custom`;
    const { stdout, stderr } = await asRoot('studio-2', script);
    expect(stderr.match(/belongs to an earlier boot session/g)).toHaveLength(2);
    expect(stdout).toMatch(/^ sleep {16}0$/m);
  });

  it('is recorded with its node, tool and arguments', () => {
    expect(rack.fleet.effects().find(({ node }) => node === 'studio-3')).toMatchObject({
      kind: 'write',
      boot: 0,
      tool: '/usr/sbin/sysctl',
      args: ['iogpu.wired_limit_mb=4096'],
      exitCode: 0,
    });
  });

  it('remains after an earlier fault is cleared', async () => {
    await rack.fleet.setFault(['power-wrong', 'studio-4']);
    await rack.fleet.setFault(['clock-skew', 'studio-4']);
    await asRoot('studio-4', '"$R/usr/bin/pmset" -a disksleep 3');
    await rack.fleet.clearFault([]);
    const { stdout } = await asUser('studio-4', 'pmset -g custom');
    expect(stdout).toMatch(/^ sleep {16}0$/m);
    expect(stdout).toMatch(/^ disksleep {12}3$/m);
  });

  it('is never lost among many parallel ones', async () => {
    const all = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].flatMap((node) =>
      [11, 12, 13].map((value) =>
        asRoot(node, `"$R/usr/bin/pmset" -a sleep ${value}; "$R/usr/sbin/sysctl" -n hw.model`),
      ),
    );
    expect((await Promise.all(all)).map(({ stdout }) => stdout)).toEqual(all.map(() => 'Mac15,14\n'));
    expect(
      rack.fleet.effects().filter((one) => one.kind === 'write' && one.args[1] === 'sleep' && one.args[2] === '13'),
    ).toHaveLength(4);
  });
});

describe('a command listener on a simulated Mac', () => {
  it('is called before the client gets any output', async () => {
    const order: string[] = [];
    const end = rack.fleet.onExec(async ({ node, input, boot }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      order.push(`${node} ${boot} ${input.includes('sleep 5') ? 'the script' : 'something else'}`);
    });
    const ran = await asRoot('studio-1', '"$R/usr/bin/pmset" -a sleep 5; printf done');
    order.push(`client ${ran.stdout}`);
    end();
    expect(order).toEqual(['studio-1 0 the script', 'client done']);
  });

  it('delays the client even for a command that did not read its input', async () => {
    const seen: string[] = [];
    const end = rack.fleet.onExec(({ command }) => {
      seen.push(command);
    });
    const ran = await asUser('studio-1', 'printf %s heard');
    end();
    await asUser('studio-1', 'true');
    expect([ran.stdout, seen.length, seen[0]?.endsWith('printf %s heard')]).toEqual(['heard', 1, true]);
  });
});
