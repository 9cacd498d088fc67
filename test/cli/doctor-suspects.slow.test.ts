import { beforeAll, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { eventually } from '../rack/running.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { expectGolden, json } from './meshwright.ts';
import { overRdma, pairPlace } from './pair.ts';

const { place, run } = pairPlace(pairFile(overRdma));
beforeAll(async () => {
  const ran = await run('apply', '--sim', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toContain('RDMA launch budget used: 0 of 10 on studio-1,4\n');
});

interface DoctorDocument {
  readonly troubles: readonly {
    readonly code: string;
    readonly subject: string;
    readonly hanging: readonly string[];
  }[];
  readonly launches: Readonly<Record<string, { readonly starts: number; readonly limit: number }>>;
}

const doctor = async (): Promise<DoctorDocument> => json(await run('doctor', '--sim', '--json')) as DoctorDocument;
const suspects = async (): Promise<readonly string[]> =>
  (await doctor()).troubles.map(({ code, subject, hanging }) => [code, subject, ...hanging].join(' | '));

inTurn(0, 2)('an RDMA fault that only traffic reveals', () => {
  it('is not suspected while the placement serves, and the launch count comes from the kernel', async () => {
    const { troubles, launches } = await doctor();
    expect(troubles).toEqual([]);
    expect(launches).toEqual({
      'studio-1': { starts: 1, limit: 10, assumed: false, source: 'kernel' },
      'studio-4': { starts: 1, limit: 10, assumed: false, source: 'kernel' },
    });
    expect((await run('status', '--sim')).stdout).toContain('  RDMA launch budget used: 1 of 10 on studio-1,4\n');
  });

  it('is reported as a port that was idle too long, after a failed token and a failed start', async () => {
    await run('sim', 'fault', 'idle-dead-port', 'studio-1:4');
    let hung = await run('doctor', '--sim');
    // The rank writes to its log a moment after its port has died.
    await eventually(async () => {
      if (!hung.stdout.includes('[jaccl]')) hung = await run('doctor', '--sim');
      return hung.stdout.includes('[jaccl]');
    });
    expect(hung.code).toBe(1);
    await expectGolden('doctor-idle-dead', place, [hung]);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).not.toBe(0);
    expect(await suspects()).toEqual(['rdma/suspected-idle-dead | link studio-1:4 <-> studio-4:2 | placement chat']);
  });

  it('is gone after both Macs have restarted', async () => {
    expect((await run('reboot', 'studio-1', 'studio-4', '--sim', '--yes')).code).toBe(0);
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    const { troubles, launches } = await doctor();
    expect([troubles, launches['studio-1']?.starts]).toEqual([[], 1]);
  });

  it('is reported as leaked protection domains before and after a start, until the Mac restarts', async () => {
    await run('sim', 'fault', 'pd-leak', 'studio-4');
    expect(await suspects()).toEqual(['rdma/left-in-kernel | node studio-4']);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(3);
    expect(await suspects()).toEqual(['rdma/left-in-kernel | node studio-4']);
    expect((await run('restart', 'chat', '--sim', '--yes', '--allow', 'rdma-start')).code).toBe(1);
    const failed = await run('doctor', '--sim');
    expect(failed.code).toBe(1);
    await expectGolden('doctor-exhausted', place, [failed]);
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    expect(await suspects()).toEqual([]);
  });
});

inTurn(1, 2)('RDMA objects in the kernel', () => {
  it('do not cause a finding if they belong to the ranks of a serving placement', async () => {
    const { nodes } = json(await run('facts', '--sim', 'studio-4', '--fact', 'rdma-objects', '--json')) as {
      readonly nodes: Readonly<Record<string, unknown>>;
    };
    expect(nodes['studio-4']).toEqual({ 'rdma-objects': { value: { domains: 1, queuePairs: 1 } } });
    expect(await suspects()).toEqual([]);
  });

  it('are attributed to a foreign program, with the command that stops it', async () => {
    await run('sim', 'fault', 'rdma-held', 'studio-4');
    const [found] = (await doctor()).troubles;
    expect([found?.code, found?.subject]).toEqual(['rdma/held', 'node studio-4']);
    const shown = await run('doctor', '--sim');
    expect(shown.stdout).toContain('warning  studio-4: python3.12 (pid 98711) has rdma_en2, rdma_en3,');
    expect(shown.stdout).toContain('meshwright exec studio-4 --sim -- env kill 98711\n');
    expect((await run('exec', '--sim', 'studio-4', '--', 'env', 'kill', '98711')).code).toBe(0);
    expect(await suspects()).toEqual([]);
  });

  it('are attributed to hung processes, and no verbs tool runs until the Mac restarts', async () => {
    await run('sim', 'fault', 'verbs-hang', 'studio-4');
    const shown = await run('doctor', '--sim');
    expect(shown.stdout).toContain('  error    studio-4: mesh-allreduce (pid 98027) and ibv_devinfo (pid 98143)');
    expect(shown.stdout).toContain('meshwright reboot studio-4 --sim\n');
    expect(shown.stdout).toContain('Not queried: ibv_devinfo (pid');
    const ps = await run('exec', '--sim', 'studio-4', '--', 'ps', '-axo', 'pid=,ucomm=');
    expect(ps.stdout.match(/ibv_\S*/g)).toEqual(['ibv_devinfo']);
    expect((await run('exec', '--sim', 'studio-4', '--', 'env', 'kill', '-9', '98143')).code).toBe(0);
    expect((await suspects())[0]).toContain('rdma/process-stuck | node studio-4');
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes')).code).toBe(0);
    expect(await suspects()).toEqual([]);
  });
});
