import { afterEach, describe, expect, it } from 'vitest';
import { fleetPlace } from './fleet.ts';
import { expectGolden, json, widest } from './meshwright.ts';
import { schemaCheck } from './schema-check.ts';

const { place, run } = fleetPlace();
afterEach(async () => {
  await run('sim', 'fault', '--clear');
});

async function breakThings(...faults: readonly (readonly [fault: string, target: string])[]): Promise<void> {
  for (const [fault, target] of faults) expect((await run('sim', 'fault', fault, target)).code).toBe(0);
}

interface DoctorDocument {
  readonly troubles: readonly { readonly code: string; readonly stage: string; readonly hanging: readonly string[] }[];
  readonly recovery?: { readonly nodes: readonly string[] };
}

describe('doctor', () => {
  it('finds nothing in a healthy rack and exits with 0', async () => {
    const [text, some] = [await run('doctor', '--sim'), await run('doctor', '--sim', 'studio-2')];
    expect([text.code, some.code, text.stderr]).toEqual([0, 0, '']);
    await expectGolden('doctor-healthy', place, [text, some]);
  });

  it("shows each finding's cause, action and evidence in repair order", async () => {
    await breakThings(
      ['gid-missing', 'studio-1:2'],
      ['cable-missing', 'studio-1:4'],
      ['rdma-disabled', 'studio-3'],
      ['bridge-active', 'studio-2'],
    );
    const [text, document] = [await run('doctor', '--sim'), await run('doctor', '--sim', '--json')];
    expect(widest(text.stdout.replace(/^ +sudo .*$/gm, ''))).toBeLessThanOrEqual(80);
    expect(schemaCheck('doctor')(json(document))).toEqual([]);
    const { troubles, recovery } = json(document) as DoctorDocument;
    expect(troubles.map(({ stage, code }) => `${stage} ${code}`)).toEqual([
      'rdma-switch rdma/disabled',
      'bridges bridge/active',
      'cables cabling/missing',
      'nodes rdma/no-address',
    ]);
    expect(recovery?.nodes).toEqual(['studio-3']);
    expect([text.code, document.code]).toEqual([1, 1]);
    await expectGolden('doctor-broken', place, [text]);
  });

  it('shows one list of manual steps for all Macs that need Recovery, and exits with 3', async () => {
    await breakThings(['rdma-disabled', 'studio-2'], ['rdma-disabled', 'studio-3']);
    const ran = await run('doctor', '--sim');
    expect(ran.code).toBe(3);
    await expectGolden('doctor-recovery', place, [ran]);
  });

  it('reports an unreachable node next to its other findings, and exits with 4', async () => {
    await breakThings(['connection-drop', 'studio-2'], ['power-wrong', 'studio-1']);
    const ran = await run('doctor', '--sim', '--json');
    const { troubles } = json(ran) as DoctorDocument;
    expect(troubles.map(({ code }) => code)).toEqual(['power/settings', 'ssh/dropped']);
    expect(ran.code).toBe(4);
  });
});
