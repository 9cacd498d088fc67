import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';

/** A mesh over both Macs, and a second one on only the first Mac. */
const file = pairFile((value) => {
  const placements = filePart(value, 'placements');
  placements['solo'] = { ...filePart(placements, 'chat'), nodes: [first], endpoint: { port: 8081 } };
});

const rack = shared(() => startConvergeRack('overlap', file));

const service = (placement: string): string => `dev.meshwright.rank.${placement}`;

/** The PID of a rank; undefined if the rank does not run. */
const pidOf = (node: string, placement: string): number | undefined =>
  rack
    .fleet()
    .processes()
    .find((one) => one.node === node && one.label === service(placement))?.pid;

/** The port on which the ranks of a start listen. Only this generation uses it. */
async function portOf(node: string, placement: string): Promise<string> {
  const path = `$R/Library/LaunchDaemons/${service(placement)}.plist`;
  const { stdout } = await rack.asRoot(node, `"$R/bin/cat" "${path}"`);
  const [, port] = /--listen<\/string>\s*<string>[\d.]+:(\d+)</.exec(stdout) ?? [];
  if (port === undefined) throw new Error(`no port in ${stdout}`);
  return port;
}

const kill = (node: string, placement: string): Promise<void> =>
  rack.behindOurBack(async () => {
    process.kill(pidOf(node, placement) ?? 0, 'SIGKILL');
    while (pidOf(node, placement) !== undefined) await sleep(20);
  });

describe('two placements that share a Mac', { timeout: patience }, () => {
  it('serve side by side on separate ports', async () => {
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual(expect.arrayContaining([`${first} placement/chat`, `${first} placement/solo`]));
    expect(rack.fleet().processes()).toHaveLength(3);
    expect(await portOf(first, 'chat')).not.toBe(await portOf(first, 'solo'));
    expect(leftIn((await rack.apply()).plan)).toEqual([]);
  });

  it('are stopped and started independently', async () => {
    const solo = pidOf(first, 'solo');
    const ports = [await portOf(first, 'chat'), await portOf(first, 'solo')];
    await rack.apply({ goal: { kind: 'stop', placements: ['chat'] } });
    expect([pidOf(first, 'chat'), pidOf(second, 'chat'), pidOf(first, 'solo')]).toEqual([undefined, undefined, solo]);
    await rack.converge();
    expect(await portOf(first, 'chat')).not.toBe(ports[0]);
    expect(await portOf(first, 'solo')).toBe(ports[1]);
    const chat = pidOf(first, 'chat');
    await kill(first, 'solo');
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual([`${first} placement/solo`]);
    expect(pidOf(first, 'chat')).toBe(chat);
  });

  it('are affected by a lost Mac only if they use it', async () => {
    const before = [pidOf(first, 'chat'), pidOf(first, 'solo')];
    await rack.behindOurBack((fleet) => fleet.cutPower(second));
    const { plan, exit } = await rack.apply();
    expect(changesIn(plan).filter((id) => id.includes('placement/solo'))).toEqual([]);
    expect([exit, pidOf(first, 'solo')]).toEqual([4, before[1]]);
    await rack.behindOurBack((fleet) => fleet.powerOn(second));
    const back = await rack.converge();
    expect(changesIn(back.plan).filter((id) => id.includes('placement/'))).toEqual([`${first} placement/chat`]);
    expect([pidOf(first, 'solo'), pidOf(second, 'chat') === undefined]).toEqual([before[1], false]);
    expect(pidOf(first, 'chat')).not.toBe(before[0]);
  });
});
