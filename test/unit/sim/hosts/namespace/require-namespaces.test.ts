import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import { type Machine, requireNamespaces } from '../../../../../src/sim/hosts/namespace/namespace-host.ts';
import { rejection } from '../../../../sshd/ssh-case.ts';

/** A machine that meets every requirement. */
const able: Machine = {
  platform: 'linux',
  userNumber: 0,
  find: (program) => `/usr/bin/${program}`,
  unshare: () => Promise.resolve(),
};

const refused = async (machine: Partial<Machine>): Promise<readonly [string, string]> => {
  const { code, detail } = await rejection(requireNamespaces({ ...able, ...machine }));
  return [code, plainText(detail)];
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
  ])('reports %s as sim/no-namespaces', async (_, machine, detail) => {
    expect(await refused(machine)).toEqual(['sim/no-namespaces', detail]);
  });
});
