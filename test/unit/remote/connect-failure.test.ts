import { describe, expect, it } from 'vitest';
import { nodeSubject } from '../../../src/model/subject.ts';
import {
  type ConnectFailure,
  diagnoseConnect,
  isFileVaultBanner,
  quoteNodeText,
  saysUnlocked,
} from '../../../src/remote/connect-failure.ts';
import type { Target } from '../../../src/remote/remote.ts';
import { asText } from '../as-text.ts';
import { onOnePage, sayValue } from '../one-page.ts';

const target: Target = {
  label: 'studio-3',
  host: 'studio-3.lan',
  port: 22,
  user: 'mesh',
  rootPrefix: '',
  identityFiles: [],
};
const nothing: ConnectFailure = {
  phase: 'tcp',
  errors: [],
  isLate: false,
  deadlineMs: 10_000,
  plaintext: { greeting: '' },
  banner: '',
  isPartial: false,
  offered: ['~/.ssh/id_ed25519 (ssh-ed25519 SHA256:x)'],
  unsigned: [],
  leftOut: 0,
  keyProblems: [],
};
const judge = (failure: Partial<ConnectFailure>) =>
  asText(sayValue(diagnoseConnect(target, { ...nothing, ...failure })));
const socketError = (...codes: readonly string[]) => [
  { level: 'client-socket', codes, message: `connect ${codes[0]}` },
];
const identified = { greeting: '', identification: 'SSH-2.0-OpenSSH_10.0' };
const refused = [
  { level: 'client-authentication', codes: [], message: 'All configured authentication methods failed' },
];

describe('a connection that failed', () => {
  it.each([
    ['ssh/refused', socketError('ECONNREFUSED')],
    ['ssh/unreachable', socketError('EHOSTUNREACH', 'ECONNREFUSED')],
    ['ssh/unreachable', socketError('ETIMEDOUT', 'ECONNREFUSED')],
    ['ssh/unreachable', socketError('ENOTFOUND')],
    ['ssh/unreachable', socketError('EAI_AGAIN')],
    ['ssh/unreachable', socketError('EHOSTUNREACH')],
    ['ssh/unreachable', socketError('ETIMEDOUT')],
    ['ssh/unreachable', []],
  ] as const)('before TCP stood is %s for %j', (code, errors) => {
    expect(judge({ errors })).toMatchObject({ code, subject: nodeSubject('studio-3') });
  });

  it('says how long it waited for a node that does not answer', () => {
    expect(judge({ isLate: true })).toMatchObject({
      code: 'ssh/unreachable',
      detail: 'studio-3.lan port 22 did not answer within 10 s.',
    });
  });

  it('says that one of several addresses refused while another was silent', () => {
    expect(judge({ errors: [{ codes: ['ETIMEDOUT', 'ECONNREFUSED'], message: '' }] }).detail).toBe(
      'studio-3.lan port 22 could not be reached: ETIMEDOUT, ECONNREFUSED. One of its addresses refused the connection; the others did not answer.',
    );
  });

  it('says that a name was not looked up in time', () => {
    expect(judge({ phase: 'name', isLate: true })).toMatchObject({
      code: 'ssh/unreachable',
      detail: 'The name studio-3.lan could not be looked up within 10 s.',
    });
  });

  it('is a refusal of the keys when the node ends the login after too many', () => {
    const errors = [{ codes: ['2'], message: 'Too many authentication failures' }];
    const problem = judge({ phase: 'authentication', plaintext: identified, errors });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('ended the login before it had seen all of them');
  });

  it('is the doing of the agent, not of the node, when it gave no signature', () => {
    const unsigned = ['agent: work (ssh-ed25519 SHA256:x)'];
    const declined = judge({ phase: 'authentication', errors: refused, plaintext: identified, unsigned });
    expect(declined).toMatchObject({ code: 'ssh/agent-declined' });
    expect(declined.detail).toContain('agent: work (ssh-ed25519 SHA256:x)');
    const silent = judge({ phase: 'authentication', isLate: true, plaintext: identified, unsigned });
    expect(silent).toMatchObject({ code: 'ssh/agent-declined', detail: expect.stringContaining('within 10 s') });
  });

  it('says that a name does not exist, not that the node is off', () => {
    expect(judge({ errors: socketError('ENOTFOUND') }).detail).toBe('The name studio-3.lan does not exist.');
    expect(judge({ errors: socketError('EAI_AGAIN') }).detail).toBe(
      'The name studio-3.lan cannot be looked up at the moment.',
    );
  });

  it('has timed out once TCP stood', () => {
    for (const phase of ['identification', 'key-exchange', 'authentication'] as const) {
      expect(judge({ phase, isLate: true, plaintext: identified }).code).toBe('ssh/timed-out');
    }
    expect(judge({ phase: 'identification', isLate: true }).code).toBe('ssh/timed-out');
  });

  it('is no SSH server when it began otherwise, late or not', () => {
    for (const isLate of [true, false]) {
      expect(judge({ phase: 'identification', isLate, plaintext: { greeting: '220 mail' } }).code).toBe('ssh/not-ssh');
    }
  });

  it('is dropped when the socket broke after it stood', () => {
    expect(judge({ phase: 'key-exchange', plaintext: identified, errors: socketError('ECONNRESET') }).code).toBe(
      'ssh/dropped',
    );
    expect(judge({ phase: 'authentication', plaintext: identified }).code).toBe('ssh/dropped');
    expect(judge({ phase: 'identification' }).code).toBe('ssh/dropped');
  });

  it('is turned away by what sshd says before its identification, or by a disconnect of reason 12 (case 46)', () => {
    for (const greeting of ['Exceeded MaxStartups\r\n', 'Not allowed at this time\r\n']) {
      expect(judge({ phase: 'identification', plaintext: { greeting } }).code).toBe('ssh/too-many-connections');
    }
    const errors = [{ codes: ['12'], message: 'Too many connections' }];
    expect(judge({ phase: 'authentication', plaintext: identified, errors }).code).toBe('ssh/too-many-connections');
  });

  it('failed to log in when keys were refused, and names them', () => {
    const problem = judge({
      phase: 'authentication',
      errors: refused,
      methodsLeft: ['publickey'],
      plaintext: identified,
    });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('~/.ssh/id_ed25519');
    expect(problem.hint.split('\n')[1]).toBe('  meshwright enroll studio-3');
  });

  it('says that a node takes no keys at all without calling it locked', () => {
    const problem = judge({
      phase: 'authentication',
      errors: refused,
      methodsLeft: ['password'],
      plaintext: identified,
    });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('The node accepts only password');
    expect(problem.hint).toContain('PubkeyAuthentication yes');
    expect(problem.hint).not.toContain('meshwright enroll');
  });

  it('names the second step of a login instead of another key', () => {
    const left = { methodsLeft: ['password'], isPartial: true };
    const problem = judge({ phase: 'authentication', errors: refused, plaintext: identified, ...left });
    expect(problem).toMatchObject({ code: 'ssh/authentication-failed' });
    expect(problem.detail).toContain('also requires: password');
    expect(problem.hint).toContain('another login step');
    expect(problem.hint).toContain('AuthenticationMethods');
    expect(problem.hint).not.toContain('meshwright enroll');
  });

  it.each([
    'This system is locked. To unlock it, use a local\naccount name and password. Once successfully\nunlocked, you will be able to connect normally.\n',
    'This system\r\n is   locked. To\r\nunlock  it, use a local account',
  ])('is locked at FileVault when the banner says so, however it is wrapped: %j (case 47b)', (banner) => {
    const problem = judge({
      phase: 'authentication',
      errors: refused,
      methodsLeft: ['password'],
      banner,
      plaintext: identified,
    });
    expect(problem).toMatchObject({ code: 'ssh/locked-at-filevault' });
    expect(problem.detail).toContain('no password was sent');
  });

  it('is not locked because a banner of the house calls it locked down', () => {
    const banner = 'This system is locked down; authorised use only.';
    const problem = judge({ phase: 'authentication', errors: refused, methodsLeft: ['publickey'], banner });
    expect(problem.code).toBe('ssh/authentication-failed');
  });

  it('puts a bad host key before everything that happened after it', () => {
    const seen = { type: 'ssh-ed25519', base64: 'AAAA' };
    const verdicts = [
      ['unknown', 'ssh/host-key-unknown'],
      ['changed', 'ssh/host-key-changed'],
      ['revoked', 'ssh/host-key-revoked'],
      ['certificate-authority', 'ssh/certificate-authority'],
    ] as const;
    for (const [kind, code] of verdicts) {
      const verdict = { kind, seen, known: { ...seen, file: '~/.ssh/known_hosts', line: 7 } };
      expect(judge({ phase: 'key-exchange', verdict, plaintext: identified, isLate: true })).toMatchObject({ code });
    }
    expect(judge({ phase: 'key-exchange', verdict: { kind: 'unreadable' } }).code).toBe('ssh/host-key-unknown');
  });

  it('shows both fingerprints, the old line and where to compare when a key changed (case 23)', () => {
    const problem = judge({
      phase: 'key-exchange',
      verdict: {
        kind: 'changed',
        seen: { type: 'ecdsa-sha2-nistp256', base64: 'BBBB' },
        known: { type: 'ssh-ed25519', base64: 'AAAA', file: 'cluster.lock', line: 14 },
      },
    });
    expect(problem.detail).toContain('not the one in cluster.lock:14.');
    expect(problem.detail.match(/SHA256:/gu)).toHaveLength(2);
    expect(problem.hint).toContain('ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub');
    expect(problem.hint).toContain('meshwright enroll studio-3 --replace');
    expect(problem.hint.split('\n').at(-1)).toBe('  meshwright replace studio-3');
  });

  it('names the algorithms of both sides', () => {
    const offer = {
      kex: ['mlkem768x25519-sha256'],
      hostKey: ['ssh-ed25519'],
      cipher: ['aes128-ctr'],
      mac: ['hmac-sha2-256'],
    };
    const errors = [{ level: 'handshake', codes: [], message: 'Handshake failed: no matching key exchange algorithm' }];
    const problem = judge({ phase: 'key-exchange', errors, plaintext: { ...identified, offer } });
    expect(problem.code).toBe('ssh/no-common-algorithm');
    expect(problem.detail).toContain('the node offers mlkem768x25519-sha256; meshwright supports curve25519-sha256');
  });
});

describe('a connection that failed in a way that is like another one', () => {
  const said = (...messages: readonly string[]) => messages.map((message) => ({ codes: [], message }));
  const codeOf = (failure: Partial<ConnectFailure>) => judge({ plaintext: identified, ...failure }).code;

  it('is unreachable for each reason of the network', () => {
    for (const code of ['ENODATA', 'ENETUNREACH', 'EHOSTDOWN'])
      expect(codeOf({ errors: socketError(code) })).toMatch(/un/);
    expect(judge({ phase: 'name' }).detail).toMatch(/could not be reached: the connection was closed\.$/);
    expect(judge({ isLate: true, errors: socketError('ENOTFOUND') }).detail).toMatch(/looked up within 10 s\.$/);
  });

  it('is a refused login where the login was reached, and in time', () => {
    const login = { phase: 'authentication' } as const;
    expect(codeOf({ ...login, errors: refused })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...login, methodsLeft: [] })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...login, methodsLeft: ['publickey'], isLate: true })).toBe('ssh/timed-out');
    const early = { phase: 'key-exchange' } as const;
    expect(codeOf({ ...early, errors: [{ codes: ['14'], message: 'no more' }] })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...early, methodsLeft: ['publickey'] })).toBe('ssh/dropped');
    expect(codeOf({ ...early, unsigned: ['key'] })).toBe('ssh/dropped');
    expect(codeOf({ ...early, errors: said('Too many authentication failures') })).toBe('ssh/dropped');
  });

  it('is said with everything that the node left open', () => {
    const login = { phase: 'authentication', plaintext: identified, leftOut: 1 } as const;
    judge({ ...login, errors: said('first', 'Too many authentication failures'), methodsLeft: ['publickey', 'x'] });
    judge({ ...login, errors: refused, methodsLeft: ['password', 'keyboard-interactive'] });
    judge({ ...login, errors: refused, methodsLeft: ['password', 'publickey'], isPartial: true });
  });

  it('is no proof of the host key, which is another thing than a dropped connection', () => {
    const errors = said('x', 'Handshake failed: signature verification failed');
    expect(codeOf({ phase: 'key-exchange', errors })).toBe('ssh/host-key-unproven');
    const plaintext = { ...identified, greeting: 'hello' };
    expect(codeOf({ phase: 'key-exchange', plaintext })).toBe('ssh/dropped');
  });

  it('names the first kind of algorithm that is not shared', () => {
    const shared = {
      kex: ['curve25519-sha256'],
      hostKey: ['rsa-sha2-256'],
      cipher: ['aes128-ctr'],
      mac: ['hmac-sha2-512'],
    };
    const errors = said('x', 'no matching C->S MAC');
    const missing = (offer?: typeof shared) =>
      judge({ phase: 'key-exchange', errors, plaintext: { ...identified, ...(offer && { offer }) } });
    for (const kind of Object.keys(shared)) {
      expect(missing({ ...shared, [kind]: ['old', 'older'] }).code).toBe('ssh/no-common-algorithm');
    }
    expect([missing(shared).detail, missing().detail]).toEqual([
      'x; no matching C->S MAC.',
      'x; no matching C->S MAC.',
    ]);
  });
});

describe('a banner', () => {
  it('is that of a locked Mac with both of its sentences, and says that it is unlocked with other words', () => {
    const texts = ['This system is locked. To unlock it, type', 'system is locked.', 'to unlock it', ''];
    expect(texts.map(isFileVaultBanner)).toEqual([true, false, false, false]);
    expect(['System  successfully\nunlocked.', 'unlocked', ''].map(saysUnlocked)).toEqual([true, false, false]);
  });
});

describe('text of a node', () => {
  it('is shown without anything a terminal obeys, and short', () => {
    expect(quoteNodeText('a\u001b]0;x\u0007b\r\n\u2028')).toBe('a\\x1b]0;x\\x07b\\x0d\\x0a\\x2028');
    expect(quoteNodeText('x'.repeat(500))).toBe(`${'x'.repeat(120)}…`);
    expect(quoteNodeText('x'.repeat(120))).toBe('x'.repeat(120));
  });
});

onOnePage('connect-failure');
