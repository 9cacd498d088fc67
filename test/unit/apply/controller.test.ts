import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { controllerId, processStart, thisController } from '../../../src/apply/controller.ts';

describe('a controller', () => {
  it('is known by its host name and its network cards, in whatever order they are listed', () => {
    const id = controllerId('desk', ['bb:00', 'aa:00']);
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(controllerId('desk', ['aa:00', 'bb:00'])).toBe(id);
    expect([controllerId('other', ['aa:00', 'bb:00']), controllerId('desk', ['aa:00'])]).not.toContain(id);
  });

  it('names this process so that another one with its number is told apart', async () => {
    const me = await thisController();
    expect(me.pid).toBe(process.pid);
    expect(me.name).toMatch(/^.+@.+$/);
    expect(me.pidStart).toBe(await processStart(process.pid));
    expect(me.pidStart).not.toMatch(/\s|^$|unknown/);
  });

  it('sees that a process has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
    const pid = child.pid ?? 0;
    expect(await processStart(pid)).toMatch(/\S/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await processStart(pid)).toBeUndefined();
  });
});
