import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { diagnoseHostKey, lockedAtFileVault } from '../../../../src/remote/keys/host-key-trust.ts';
import type { Target } from '../../../../src/remote/remote.ts';
import { onOnePage, say, sayValue } from '../../one-page.ts';
import { edKey } from '../wire.ts';

const ofFile: Target = {
  label: 'studio-3',
  host: 'mac.lan',
  port: 22,
  user: 'mesh',
  rootPrefix: '',
  identityFiles: [],
};
const bare: Target = { ...ofFile, label: 'mac.lan', port: 2_222 };
const seen = { type: 'ssh-ed25519', base64: edKey(1).toString('base64') };
const known = { type: 'ssh-ed25519', base64: edKey(2).toString('base64'), file: 'known_hosts', line: 7 };
const types = ['ssh-rsa', 'ecdsa-sha2-nistp256', 'sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'];

describe('the diagnostic for a rejected host key', () => {
  it('shows fingerprints, the known line and commands', () => {
    for (const target of [ofFile, bare]) {
      sayValue(diagnoseHostKey(target, { kind: 'unreadable' }));
      sayValue(diagnoseHostKey(target, { kind: 'unknown', seen }));
      sayValue(diagnoseHostKey(target, { kind: 'preboot', seen, known }));
      sayValue(diagnoseHostKey(target, { kind: 'changed', seen, known }));
      sayValue(diagnoseHostKey(target, { kind: 'changed', seen: { ...seen, type: 'ssh-rsa' }, known }));
      sayValue(diagnoseHostKey(target, { kind: 'revoked', seen, known }));
      sayValue(diagnoseHostKey(target, { kind: 'certificate-authority', seen, known }));
    }
    sayValue(lockedAtFileVault({ ...bare, port: 22 }, 'It said so.'));
    expect(plainText(lockedAtFileVault(ofFile, '').detail)).toBe(
      'mac.lan is up, but its disk is still locked; no password was sent.',
    );
  });

  it('names the key file for its type', () => {
    for (const type of types) {
      const { hint } = diagnoseHostKey(ofFile, { kind: 'unknown', seen: { ...seen, type } });
      say(`${type}: ${plainText(hint).split('\n')[1]}`);
    }
  });
});

onOnePage('host-key-diagnostics');
