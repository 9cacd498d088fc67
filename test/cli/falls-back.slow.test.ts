import { describe, expect, it } from 'vitest';
import { sampleOf } from '../sample.ts';
import { json } from './meshwright.ts';
import { driverPlace } from './pair.ts';

const { run } = driverPlace('llamacpp', 'rdma');

const chat = async () =>
  (json(await run('status', '--sim', '--json')) as { placements: Readonly<Record<string, object>> }).placements['chat'];

describe('a llama.cpp mesh whose next RDMA connection fails', () => {
  it('continues over TCP, and doctor quotes the log line with the cause', async () => {
    expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
    expect(await chat()).toMatchObject({ state: 'serving', seenTransport: 'rdma' });
    expect((await run('sim', 'fault', 'falls-back', 'studio-4')).code).toBe(0);
    expect(await chat()).toMatchObject({ state: 'serving', seenTransport: 'rdma' });
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(1);
    expect(await chat()).toMatchObject({ state: 'changed', seenTransport: 'tcp', transport: 'rdma' });
    expect((await run('status', '--sim')).stdout).toContain('tcp (the file says rdma)');
    const [, found = ''] =
      /^ {2}error +(placement chat: (?:.|\n)*?)\n *→/m.exec((await run('doctor', '--sim')).stdout) ?? [];
    expect(found.replaceAll(/\s+/g, ' ')).toContain(
      'its ranks use tcp, the file says rdma. First failure: rank 1 on studio-4. It logged "RDMA',
    );
  });

  it('still answers requests', async () => {
    expect((await run('ask', 'chat', 'Hello', '--sim', '--deadline', '10s')).code).toBe(0);
  });

  it('uses RDMA again after the affected Mac is rebooted', async () => {
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
    expect(await chat()).toMatchObject({ state: 'serving', seenTransport: 'rdma' });
  });
});

const others = sampleOf(['mlx', 'exo', 'command'] as const, { few: 1, oneIn: 3 });
describe.each(others)('a %s mesh whose next RDMA connection fails', (driver) => {
  const other = driverPlace(driver, 'rdma');

  it('does not continue over TCP: its start fails, and the error names the connection', async () => {
    expect(await other.run('apply', '--sim', '--yes', '--allow', 'interrupt')).toMatchObject({ code: 0 });
    await other.run('sim', 'fault', 'falls-back', 'studio-4');
    const ran = await other.run('restart', 'chat', '--sim', '--yes');
    expect(ran.code).toBe(1);
    expect((ran.stdout + ran.stderr).replaceAll(/\s+/g, ' ')).toContain('failed with errno 16');
  });
});
