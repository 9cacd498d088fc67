import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { controllerId, hasEnded, processStart, thisController } from '../../../../src/apply/lease/controller.ts';

describe('a controller', () => {
  it('has a stable id from its host name and process table', async () => {
    const id = controllerId('desk', 'boot pid:[1]');
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(controllerId('desk', 'boot pid:[1]')).toBe(id);
    expect([controllerId('other', 'boot pid:[1]'), controllerId('desk', 'boot pid:[2]')]).not.toContain(id);
    expect((await thisController()).id).toBe((await thisController()).id);
  });

  it('identifies its process by PID and start time', async () => {
    const me = await thisController();
    expect(me.pid).toBe(process.pid);
    expect(me.name).toMatch(/^.+@.+$/);
    expect(me.pidStart).toBe(await processStart(process.pid));
    expect(me.pidStart).not.toMatch(/\s|^$|unknown/);
  });

  it('detects that a process ended or that its PID was reused', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
    const pid = child.pid ?? 0;
    const start = (await processStart(pid)) ?? '';
    expect(start).toMatch(/\S/);
    expect(await Promise.all(['1', start, 'unknown'].map((one) => hasEnded(pid, one)))).toEqual([true, false, false]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await processStart(pid)).toBeUndefined();
    expect(await hasEnded(pid, 'unknown')).toBe(true);
  });
});
