import { expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { json } from './meshwright.ts';
import { driverPlace } from './pair.ts';

const cases = [
  ['mlx', 'rdma'],
  ['exo', 'rdma'],
  ['command', 'tcp'],
] as const;

for (const [at, [driver, transport]] of cases.entries()) {
  inTurn(at, cases.length)(`${driver} ranks without access to the local network`, () => {
    const { run } = driverPlace(driver, transport);

    it('fail to start; doctor names their Mac and the macOS setting, and suggests no command', async () => {
      expect((await run('apply', '--sim', '--yes')).code).toBe(0);
      expect((await run('sim', 'fault', 'local-network-denied', 'studio-4')).code).toBe(0);
      expect((await run('restart', 'chat', '--sim', '--yes')).code).not.toBe(0);
      const { troubles } = json(await run('doctor', '--sim', '--json')) as {
        readonly troubles: readonly { readonly code: string; readonly subject: string; readonly commands: unknown }[];
      };
      expect(troubles.map(({ code, subject, commands }) => [code, subject, commands])).toEqual([
        ['mesh/not-serving', 'placement chat', []],
        ['mesh/suspected-local-network', 'node studio-4', []],
      ]);
      const text = (await run('doctor', '--sim')).stdout.replaceAll(/\s+/g, ' ');
      expect(text).toContain('System Settings > Privacy & Security > Local Network');
    });

    it('serve again once access is allowed', async () => {
      expect((await run('sim', 'fault', '--clear', 'local-network-denied')).code).toBe(0);
      expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
      expect((await run('ask', 'chat', 'Hello', '--sim')).code).toBe(0);
    });
  });
}
