import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { controllerId, hasEnded, processStart, thisController } from '../../../../src/apply/lease/controller.ts';

describe('a controller', () => {
  it('is known by its host name and its process table, and is the same each time', async () => {
    const id = controllerId('desk', 'boot pid:[1]');
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(controllerId('desk', 'boot pid:[1]')).toBe(id);
    expect([controllerId('other', 'boot pid:[1]'), controllerId('desk', 'boot pid:[2]')]).not.toContain(id);
    expect((await thisController()).id).toBe((await thisController()).id);
  });

  it('names this process so that another one with its number is told apart', async () => {
    const me = await thisController();
    expect(me.pid).toBe(process.pid);
    expect(me.name).toMatch(/^.+@.+$/);
    expect(me.pidStart).toBe(await processStart(process.pid));
    expect(me.pidStart).not.toMatch(/\s|^$|unknown/);
  });

  it('sees that a process has ended, and that its number belongs to another one', async () => {
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
