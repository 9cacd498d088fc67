import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, widest } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';

const { place, run } = pairPlace(bareFile());
beforeAll(async () => {
  await run('apply', '--sim', '--yes');
});

/** The state after a run that changed the network and was killed before it confirmed the change. */
beforeEach(() => {
  const fleets = join(place.state, 'sim');
  const fleet = readdirSync(fleets).find((name) => name.startsWith('cluster')) ?? '';
  const root = join(fleets, fleet, 'roots/studio-1');
  const pending = join(root, 'Library/Application Support/meshwright/transaction/pending');
  mkdirSync(pending, { recursive: true });
  writeFileSync(join(pending, 'about'), 'run=r-left\ntoken=1\nstep=studio-1/link-address/2/set\nby=ana@desk\n');
  writeFileSync(join(pending, 'restore'), 'exit 0\n');
});

const pendingLine = /transaction +studio-1\/link-address\/2\/set of run r-left \(ana@desk\) is not\s+confirmed/;

describe('an unconfirmed network change', () => {
  it('appears as drift and in the plan, and the other changes to its Mac wait', async () => {
    await run('sim', 'fault', 'power-wrong', 'studio-1');
    const [plan, drift] = [await run('plan', '--sim'), await run('drift', '--sim')];
    expect([plan.code, drift.code, widest(plan.stdout)]).toEqual([0, 2, expect.toSatisfy((n: number) => n <= 80)]);
    expect(plan.stdout).toMatch(pendingLine);
    expect(plan.stdout).toMatch(/power\/sleep +on studio-1: the\s+unconfirmed\s+network\s+change\s+on\s+studio-1/);
    expect(plan.stdout).not.toContain('never sleeps');
    expect(drift.stdout).toMatch(pendingLine);
  });

  it('is rolled back by apply, which then shows and makes the remaining changes', async () => {
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const [first = '', second = ''] = ran.stdout.split(/transaction changed \(rolled back\)/);
    expect(first).toMatch(pendingLine);
    expect(first).not.toContain('never sleeps');
    expect(second).toMatch(/power\/sleep.*sleeps after/);
    expect(second).toMatch(/power\/sleep changed/);
    expect(second).toMatch(/^Done: 3 changed, \d+ already right\. Checked again: nothing left to do\.$/m);
    expect((await run('plan', '--sim')).stdout).toContain('Nothing to change');
  });

  it('makes apply without --yes exit with a code other than 0', async () => {
    const ran = await run('apply', '--sim');
    expect(ran.code).toBe(5);
    const drift = await run('drift', '--sim', '--json');
    expect([drift.code, JSON.stringify(json(drift))]).toEqual([2, expect.stringContaining('r-left')]);
  });
});
