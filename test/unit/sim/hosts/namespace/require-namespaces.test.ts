import { describe, expect, it } from 'vitest';
import { type Machine, requireNamespaces } from '../../../../namespace/host/namespace-host.ts';

/** A machine that meets every requirement. */
const able: Machine = {
  platform: 'linux',
  userNumber: 0,
  find: (program) => `/usr/bin/${program}`,
  unshare: () => Promise.resolve(),
};

describe('requireNamespaces', () => {
  it('accepts root on Linux', async () => {
    await expect(requireNamespaces(able)).resolves.toBeUndefined();
  });

  it.each<readonly [string, Partial<Machine>, string]>([
    [
      'a different system',
      { platform: 'darwin' },
      'This is darwin, and only Linux has the namespaces that are needed.',
    ],
    ['a user other than root', { userNumber: 501 }, 'Only root can make them.'],
    [
      'missing programs',
      { find: (program) => (program === 'sudo' || program === 'tc' ? undefined : program) },
      'Not found: sudo, tc.',
    ],
    [
      'a kernel that refuses namespaces',
      { unshare: () => Promise.reject(new Error('unshare failed: Operation not permitted')) },
      'The kernel refuses them: unshare failed: Operation not permitted.',
    ],
  ])('refuses %s with the reason and a hint', async (_, machine, detail) => {
    const hint = 'Run it as root on Linux: apt-get install iproute2 openssh-server sudo util-linux';
    const message = `This computer cannot run simulated Macs in namespaces. ${detail} ${hint}`;
    await expect(requireNamespaces({ ...able, ...machine })).rejects.toThrow(message);
  });
});
