import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { codesOf, expectGolden, json, meshwright, type Ran } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = fleetPlace();
beforeAll(async () => {
  await run('enroll', '--sim', '--all', '--yes');
});
afterEach(() => run('sim', 'fault', '--clear'));

const withPassword = (password: string, ...words: string[]): Promise<Ran> =>
  meshwright(place, [...words, '--sim', '--password-env', 'OWN_PASSWORD'], { env: { OWN_PASSWORD: password } });
const doctor = async (): Promise<string> => (await run('doctor', '--sim', 'studio-2', '--json')).stdout;
const nodeOf = (ran: Ran): Record<string, unknown> =>
  Object.values((json(ran) as { nodes: Record<string, Record<string, unknown>> }).nodes)[0] ?? {};

describe('enroll --replace', () => {
  it('reports that the Mac belongs to a different node', async () => {
    await run('sim', 'fault', 'wrong-mac', 'studio-2,studio-1');
    const enrolled = await run('enroll', '--sim', 'studio-2', '--replace', '--yes', '--json');
    expect([enrolled.code, codesOf(nodeOf(enrolled))]).toEqual([3, ['identity/same-mac']]);
    expect(await doctor()).toContain('identity/wrong-mac');
  });

  it('installs nothing on a new Mac, keeps the known key, and suggests replace', async () => {
    await run('sim', 'fault', 'mac-replaced', 'studio-2');
    const replacing = ['enroll', 'studio-2', '--replace', '--yes', '--json'];
    const unnamed = await withPassword('simulated', ...replacing);
    expect([unnamed.code, codesOf(nodeOf(unnamed))]).toEqual([5, ['cli/needs-yes']]);
    expect(nodeOf(unnamed)).not.toHaveProperty('login');
    const named = await withPassword('simulated', ...replacing, '--expect', String(nodeOf(unnamed)['fingerprint']));
    expect([named.code, codesOf(nodeOf(named))]).toEqual([5, ['identity/wrong-mac']]);
    expect(nodeOf(named)).toMatchObject({ pin: 'refused', login: 'refused', mac: 'wrong' });
    expect(nodeOf(named)).not.toHaveProperty('installed');
    expect(named.stdout).toContain('meshwright replace studio-2 --sim');
    expect(await doctor()).toContain('ssh/host-key-changed');
  });
});

describe('replace', () => {
  // The tests continue on one rack in this order, so most of them do not run alone.
  it('accepts the new Mac, then reports the old one as the wrong Mac, and can switch back to the old one', async () => {
    await run('sim', 'fault', 'mac-replaced', 'studio-2');
    expect(await doctor()).toContain('ssh/host-key-changed');
    const unnamed = await withPassword('simulated', 'replace', 'studio-2', '--yes', '--json');
    expect([unnamed.code, codesOf(nodeOf(unnamed))]).toEqual([5, ['cli/needs-yes']]);
    const yes = ['--yes', '--expect', String(nodeOf(unnamed)['fingerprint'])];
    const refused = await withPassword('wrong', 'replace', 'studio-2', ...yes, '--json');
    expect([refused.code, codesOf(nodeOf(refused))]).toEqual([5, ['ssh/password-refused']]);
    const taken = await withPassword('simulated', 'replace', 'studio-2', ...yes);
    expect(taken.code).toBe(0);
    await expectGolden('replace', place, [taken]);
    expect(await doctor()).not.toContain('identity/wrong-mac');
    const again = await withPassword('simulated', 'replace', 'studio-2', ...yes, '--json');
    expect(nodeOf(again)).toMatchObject({ pin: 'kept', mac: 'kept', sudo: 'allowed' });
    const cleared = await run('sim', 'fault', '--clear');
    expect(cleared.stdout).toContain('The old Mac of studio-2 is back.');
    expect(await doctor()).toContain('ssh/host-key-changed');
    const old = String(nodeOf(await run('replace', '--sim', 'studio-2', '--yes', '--json'))['fingerprint']);
    const back = await run('replace', '--sim', 'studio-2', '--yes', '--expect', old, '--json');
    expect(schemaCheck('enroll')(json(back))).toEqual([]);
    expect(nodeOf(back)).toMatchObject({ pin: 'replaced', mac: 'replaced' });
    expect((await run('enroll', '--sim', 'studio-2')).stdout).toContain('already enrolled');
  });

  it('rejects a Mac that belongs to a different node', async () => {
    await run('sim', 'fault', 'wrong-mac', 'studio-2,studio-1');
    const ran = await withPassword('simulated', 'replace', 'studio-2', '--yes');
    expect(ran.code).toBe(5);
    await expectGolden('replace-same-mac', place, [ran]);
  });

  it('identifies a Mac without our key by a password login, and installs nothing on a wrong Mac', async () => {
    for (const node of ['studio-1', 'studio-2']) await run('sim', 'fault', 'not-enrolled', node);
    await run('sim', 'fault', 'wrong-mac', 'studio-2,studio-1');
    const ran = await withPassword('simulated', 'replace', 'studio-2', '--yes', '--json');
    expect([ran.code, codesOf(nodeOf(ran))]).toEqual([5, ['identity/same-mac']]);
    expect(nodeOf(ran)).not.toHaveProperty('installed');
    expect(nodeOf(ran)).toMatchObject({ login: 'refused', mac: 'wrong' });
  });

  it('shows the old Mac and the planned changes at a terminal', async () => {
    await run('sim', 'fault', 'mac-replaced', 'studio-2');
    const typing = { after: 'Use this Mac? [y/N]', keys: 'n\r' };
    const ran = await onTerminal(place, ['replace', '--sim', 'studio-2', '--no-color'], { typing });
    expect(ran.code).toBe(5);
    await expectGolden('replace-question', place, [ran]);
  });

  it('needs --yes and exactly one node that is in the file', async () => {
    await run('sim', 'fault', 'mac-replaced', 'studio-2');
    const [silent, none, unknown] = [
      await run('replace', '--sim', 'studio-2', '--json'),
      await run('replace', '--sim'),
      await run('replace', '--sim', 'studio-9'),
    ];
    expect([silent.code, none.code, unknown.code]).toEqual([5, 64, 64]);
    expect(codesOf(nodeOf(silent))).toEqual(['cli/needs-yes']);
    const other = await run('replace', '--sim', 'studio-2', '--yes', '--expect', 'SHA256:x', '--json');
    expect(codesOf(nodeOf(other))).toEqual(['enroll/fingerprint-differs']);
  });

  it('is undone by sim up --fresh', async () => {
    await run('sim', 'fault', 'mac-replaced', 'studio-2');
    const { fingerprint } = nodeOf(await withPassword('simulated', 'replace', 'studio-2', '--yes', '--json'));
    const taken = await withPassword('simulated', 'replace', 'studio-2', '--yes', '--expect', String(fingerprint));
    expect([taken.code, (await run('sim', 'up', '--fresh')).code]).toEqual([0, 0]);
    const facts = await run('facts', '--sim', 'studio-2', '--fact', 'identity');
    expect([facts.code, facts.stderr]).toEqual([0, '']);
  });
});
