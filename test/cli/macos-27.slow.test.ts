import { describe, expect, it } from 'vitest';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';
import { expectGolden, json } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';

/** New Macs, which came with macOS 27: an M5 Ultra and an M5 Max. */
const newMacs = (file: FileValue): void => {
  filePart(file, 'nodes', 'studio-1')['hardware'] = { model: 'Mac17,15', memory: '256GB' };
  filePart(file, 'nodes', 'studio-4')['hardware'] = { model: 'Mac17,14', memory: '128GB' };
  filePart(file, 'macos')['version'] = '27';
};

const { place, run } = pairPlace(bareFile(newMacs), { isApplied: true });

describe('2026 Macs with macOS 27', () => {
  it('converge, and a second apply has nothing to do', async () => {
    const again = await run('apply', '--sim', '--yes');
    expect([again.code, again.stderr]).toEqual([0, '']);
    await expectGolden('macos-27', place, [await run('validate'), await run('status', '--sim')]);
  });

  it('need System Settings instead of Recovery to enable RDMA', async () => {
    await run('sim', 'fault', 'rdma-disabled', 'studio-1');
    const found = await run('doctor', '--sim');
    expect(found.code).toBe(3);
    await expectGolden('macos-27-rdma-off', place, [found, await run('plan', '--sim')]);
    expect(json(await run('doctor', '--sim', '--json'))).toMatchObject({
      systemSettings: { nodes: ['studio-1'] },
      troubles: [{ code: 'rdma/disabled', stage: 'rdma-switch' }],
    });
    const hands = await run('sim', 'hands');
    expect(hands.stdout).toContain('enabled RDMA on studio-1 in System Settings, and restarted the Mac');
    expect((await run('doctor', '--sim')).code).toBe(0);
  });

  it('need a restart after RDMA is enabled, and the reboot command restarts them', async () => {
    await run('sim', 'fault', 'rdma-waiting', 'studio-4');
    const found = await run('doctor', '--sim');
    expect(found.code).toBe(4);
    await expectGolden('macos-27-rdma-waiting', place, [found]);
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('doctor', '--sim')).code).toBe(0);
  });
});
