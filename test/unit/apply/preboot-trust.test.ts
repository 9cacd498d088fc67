import { describe, expect, it } from 'vitest';
import { trustIn } from '../../../src/apply/unlock-node.ts';
import { trustName } from '../../../src/remote/keys/host-key-trust.ts';
import type { Target } from '../../../src/remote/remote.ts';

const key = { type: 'ssh-ed25519', base64: 'AAAAC3NzaC1lZDI1NTE5AAAAIGNAMdS6Y6bwjNMDb5r8FWWDYp6+J0HDsCYVUyRkUFEq' };
const target: Target = {
  label: 'studio-1',
  host: '10.0.0.1',
  port: 22,
  user: 'mesh',
  rootPrefix: '',
  identityFiles: [],
};

describe('trust in a preboot key', () => {
  it.each([{}, { hostKeyAlias: 'studio' }, { port: 2222 }])('applies only to its target: %j', (more) => {
    const at = { ...target, ...more };
    const trust = trustIn(at, key);
    expect(trust.name).toBe(trustName(at));
    expect(trust.judge(Buffer.from(key.base64, 'base64')).kind).toBe('accepted');
  });
});
