import { expect, it } from 'vitest';
import { driverPlace } from './pair.ts';

const { run } = driverPlace('exo', 'rdma');

const ask = async () => (await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s')).code;

it('if an exo mesh loses a cable, doctor suggests connecting the cable and then restarting the mesh', async () => {
  expect((await run('apply', '--sim', '--yes', '--allow', 'interrupt')).code).toBe(0);
  expect(await ask()).toBe(0);
  await run('sim', 'fault', 'cable-missing', 'studio-1:4');
  expect(await ask()).not.toBe(0);
  const { stdout } = await run('doctor', '--sim');
  expect(stdout).toContain('Connect studio-1 receptacle 4 and studio-4 receptacle 2');
  expect(stdout).toContain('then     restart chat: meshwright restart chat --sim');
  await run('sim', 'hands');
  expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
  expect(await ask()).toBe(0);
});
