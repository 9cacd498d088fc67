import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  controllerId,
  hasEnded,
  identityIn,
  ownIdentity,
  processStart,
  thisController,
} from '../../../../src/apply/lease/controller.ts';
import { identityDigest } from '../../../../src/model/facts/mac.ts';

describe('a controller', () => {
  it('has a stable id from its host name and process table', async () => {
    const id = controllerId('desk', 'boot pid:[1]');
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(controllerId('desk', 'boot pid:[1]')).toBe(id);
    expect([controllerId('other', 'boot pid:[1]'), controllerId('desk', 'boot pid:[2]')]).not.toContain(id);
    expect((await thisController()).id).toBe((await thisController()).id);
  });

  it('knows on which Mac it runs only from the ids of its hardware', async () => {
    const ids =
      '    "IOPlatformUUID" = "F2B1C3D4-0000-4000-8000-000000000001"\n    "IOPlatformSerialNumber" = "ABCDEFGH12"\n';
    const shown = `+-o Mac  <class IOPlatformExpertDevice, id 0x100000225>\n  {\n${ids}  }\n`;
    const identity = { serial: 'ABCDEFGH12', hardwareUuid: 'F2B1C3D4-0000-4000-8000-000000000001' };
    expect(identityIn(shown)).toBe(identityDigest(identity));
    expect(identityIn('+-o Mac  <class IOPlatformExpertDevice, id 0x100000225>')).toBeUndefined();
    if (process.platform === 'linux') expect(await ownIdentity()).toBeUndefined();
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
