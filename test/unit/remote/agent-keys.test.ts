import { expect, it, vi } from 'vitest';
import { listAgentKeys } from '../../../src/remote/agent-keys.ts';

vi.mock('../../../src/remote/load-ssh2.ts', () => ({
  loadSsh2: async () => ({
    OpenSSHAgent: class {
      getIdentities(done: (error: undefined, keys: readonly object[]) => void): void {
        done(undefined, [{ type: 'ssh-dss' }, { type: 'ssh-ed25519' }, { blob: 'sk-ssh-ed25519' }]);
      }
    },
  }),
}));

it('an ssh agent offers no DSA key and none of an unknown type', async () => {
  const { keys } = await listAgentKeys('/tmp/agent');
  expect(keys.map(({ key }) => key)).toEqual([{ type: 'ssh-ed25519' }]);
});
