import type { LookupAddress } from 'node:dns';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLookUp, type Settle } from '../../../src/remote/look-up-name.ts';

const addresses: readonly LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];
const isDead = (host: string): boolean => host.startsWith('dead');
const never = new Promise<never>(() => undefined);

/** Two lookup slots, which dead names occupy forever, and a spare process. All calls are counted. */
function makePlaces(patienceMs: number) {
  const seen = { first: [] as string[], spare: [] as string[], busy: 0, most: 0, opened: 0, closed: 0 };
  const spares: Map<string, Settle>[] = [];
  const lookUp = createLookUp({
    patienceMs,
    places: 2,
    lookUp: async (host) => {
      seen.first.push(host);
      seen.busy += 1;
      seen.most = Math.max(seen.most, seen.busy);
      if (isDead(host)) return never;
      await turn();
      seen.busy -= 1;
      if (host === 'nobody') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return addresses;
    },
    openSpare: () => {
      seen.opened += 1;
      const asked = new Map<string, Settle>();
      spares.push(asked);
      return {
        ask: (host, settle) => {
          seen.spare.push(host);
          asked.set(host, settle);
          if (!isDead(host) && host !== 'later') queueMicrotask(() => settle.found(addresses));
        },
        close: () => {
          seen.closed += 1;
        },
      };
    },
  });
  return { lookUp, seen, spares };
}

const names = (word: string, count: number): readonly string[] => Array.from({ length: count }, (_, at) => word + at);

describe('name lookup', () => {
  it('limits parallel lookups, and opens no spare process while they make progress', async () => {
    const { lookUp, seen } = makePlaces(60_000);
    const hosts = names('studio-', 20);
    expect(await Promise.all(hosts.map(lookUp))).toEqual(hosts.map(() => addresses));
    expect(seen).toMatchObject({ first: hosts, spare: [], most: 2, opened: 0 });
  });

  it('resolves live names while dead names occupy every slot', async () => {
    const { lookUp, seen } = makePlaces(1);
    for (const host of names('dead-', 5)) void lookUp(host);
    const hosts = names('studio-', 10);
    const found = await Promise.all(hosts.map(lookUp));
    expect([...found, await lookUp('x')]).toEqual([...hosts, 'x'].map(() => addresses));
    expect(seen).toMatchObject({ first: ['dead-0', 'dead-1'], most: 2, opened: 1, closed: 0 });
  });

  it('closes the spare process once no request is waiting', async () => {
    const { lookUp, seen, spares } = makePlaces(1);
    const dead = names('dead-', 3).map(lookUp);
    await lookUp('studio-1');
    for (const [host, settle] of spares[0] ?? []) if (isDead(host)) settle.failed(new Error('gone'));
    expect((await Promise.allSettled(dead)).map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(seen).toMatchObject({ opened: 1, closed: 1 });
  });

  it('repeats a request if the spare process is lost', async () => {
    const { lookUp, seen, spares } = makePlaces(1);
    for (const host of names('dead-', 2)) void lookUp(host);
    const later = lookUp('later');
    while (spares.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const settle of spares[0]?.values() ?? []) settle.lost();
    while (spares.length === 1) await new Promise((resolve) => setTimeout(resolve, 1));
    spares[1]?.get('later')?.found(addresses);
    expect(await later).toBe(addresses);
    expect(seen.opened).toBe(2);
  });

  it('shares one lookup between simultaneous requests for a name', async () => {
    const { lookUp, seen } = makePlaces(60_000);
    await Promise.all([lookUp('studio-1'), lookUp('studio-1')]);
    expect(seen.first).toEqual(['studio-1']);
    await lookUp('studio-1');
    expect(seen.first).toEqual(['studio-1', 'studio-1']);
  });

  it('rejects with the reason why a name has no address', async () => {
    const { lookUp } = makePlaces(60_000);
    await expect(lookUp('nobody')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
