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
const diagnose = (failure: Partial<ConnectFailure>) =>
  asText(sayValue(diagnoseConnect(target, { ...nothing, ...failure })));
const socketError = (...codes: readonly string[]) => [
  { level: 'client-socket', codes, message: `connect ${codes[0]}` },
];
const identified = { greeting: '', identification: 'SSH-2.0-OpenSSH_10.0' };
const refused = [
  { level: 'client-authentication', codes: [], message: 'All configured authentication methods failed' },
];

describe('a failed connection', () => {
  it.each([
    ['ssh/refused', socketError('ECONNREFUSED')],
    ['ssh/unreachable', socketError('EHOSTUNREACH', 'ECONNREFUSED')],
    ['ssh/unreachable', socketError('ETIMEDOUT', 'ECONNREFUSED')],
    ['ssh/unreachable', socketError('ENOTFOUND')],
    ['ssh/unreachable', socketError('EAI_AGAIN')],
    ['ssh/unreachable', socketError('EHOSTUNREACH')],
    ['ssh/unreachable', socketError('ETIMEDOUT')],
    ['ssh/unreachable', []],
  ] as const)('is reported before TCP connects as %s for %j', (code, errors) => {
    expect(diagnose({ errors })).toMatchObject({ code, subject: nodeSubject('studio-3') });
  });

  it('reports how long it waited for a silent node', () => {
    expect(diagnose({ isLate: true })).toMatchObject({
      code: 'ssh/unreachable',
      detail: 'studio-3.lan port 22 did not answer within 10 s.',
    });
  });

  it('reports that one of several addresses refused while another was silent', () => {
    expect(diagnose({ errors: [{ codes: ['ETIMEDOUT', 'ECONNREFUSED'], message: '' }] }).detail).toBe(
      'studio-3.lan port 22 could not be reached: ETIMEDOUT, ECONNREFUSED. One of its addresses refused the connection; the others did not answer.',
    );
  });

  it('reports a name lookup that timed out', () => {
    expect(diagnose({ phase: 'name', isLate: true })).toMatchObject({
      code: 'ssh/unreachable',
      detail: 'The name studio-3.lan could not be looked up within 10 s.',
    });
  });

  it('counts as a failed authentication if the node closes the login after too many keys', () => {
    const errors = [{ codes: ['2'], message: 'Too many authentication failures' }];
    const problem = diagnose({ phase: 'authentication', plaintext: identified, errors });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('ended the login before it had seen all of them');
  });

  it('blames the agent, not the node, for a missing signature', () => {
    const unsigned = ['agent: work (ssh-ed25519 SHA256:x)'];
    const declined = diagnose({ phase: 'authentication', errors: refused, plaintext: identified, unsigned });
    expect(declined).toMatchObject({ code: 'ssh/agent-declined' });
    expect(declined.detail).toContain('agent: work (ssh-ed25519 SHA256:x)');
    const silent = diagnose({ phase: 'authentication', isLate: true, plaintext: identified, unsigned });
    expect(silent).toMatchObject({ code: 'ssh/agent-declined', detail: expect.stringContaining('within 10 s') });
  });

  it('distinguishes a name that does not exist from a failed lookup', () => {
    expect(diagnose({ errors: socketError('ENOTFOUND') }).detail).toBe('The name studio-3.lan does not exist.');
    expect(diagnose({ errors: socketError('EAI_AGAIN') }).detail).toBe(
      'The name studio-3.lan cannot be looked up at the moment.',
    );
  });

  it('counts as a timeout once TCP is connected', () => {
    for (const phase of ['identification', 'key-exchange', 'authentication'] as const) {
      expect(diagnose({ phase, isLate: true, plaintext: identified }).code).toBe('ssh/timed-out');
    }
    expect(diagnose({ phase: 'identification', isLate: true }).code).toBe('ssh/timed-out');
  });

  it('reports a server that does not start with an SSH identification', () => {
    for (const isLate of [true, false]) {
      expect(diagnose({ phase: 'identification', isLate, plaintext: { greeting: '220 mail' } }).code).toBe(
        'ssh/not-ssh',
      );
    }
  });

  it('counts as dropped if the socket breaks after TCP connects', () => {
    expect(diagnose({ phase: 'key-exchange', plaintext: identified, errors: socketError('ECONNRESET') }).code).toBe(
      'ssh/dropped',
    );
    expect(diagnose({ phase: 'authentication', plaintext: identified }).code).toBe('ssh/dropped');
    expect(diagnose({ phase: 'identification' }).code).toBe('ssh/dropped');
  });

  it("reports too many connections for sshd's early messages and for disconnect reason 12", () => {
    for (const greeting of ['Exceeded MaxStartups\r\n', 'Not allowed at this time\r\n']) {
      expect(diagnose({ phase: 'identification', plaintext: { greeting } }).code).toBe('ssh/too-many-connections');
    }
    const errors = [{ codes: ['12'], message: 'Too many connections' }];
    expect(diagnose({ phase: 'authentication', plaintext: identified, errors }).code).toBe('ssh/too-many-connections');
  });

  it('names the keys that the node refused', () => {
    const problem = diagnose({
      phase: 'authentication',
      errors: refused,
      methodsLeft: ['publickey'],
      plaintext: identified,
    });
    expect(problem.code).toBe('ssh/authentication-failed');
    expect(problem.detail).toContain('~/.ssh/id_ed25519');
    expect(problem.hint.split('\n')[1]).toBe('  meshwright enroll studio-3');
  });

  it('reports a node that accepts no keys without calling it locked', () => {
    const problem = diagnose({
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

  it('names the missing second login step instead of suggesting a different key', () => {
    const left = { methodsLeft: ['password'], isPartial: true };
    const problem = diagnose({ phase: 'authentication', errors: refused, plaintext: identified, ...left });
    expect(problem).toMatchObject({ code: 'ssh/authentication-failed' });
    expect(problem.detail).toContain('also requires: password');
    expect(problem.hint).toContain('another login step');
    expect(problem.hint).toContain('AuthenticationMethods');
    expect(problem.hint).not.toContain('meshwright enroll');
  });

  it.each([
    'This system is locked. To unlock it, use a local\naccount name and password. Once successfully\nunlocked, you will be able to connect normally.\n',
    'This system\r\n is   locked. To\r\nunlock  it, use a local account',
  ])('recognizes the FileVault banner in any line wrapping: %j', (banner) => {
    const problem = diagnose({
      phase: 'authentication',
      errors: refused,
      methodsLeft: ['password'],
      banner,
      plaintext: identified,
    });
    expect(problem).toMatchObject({ code: 'ssh/locked-at-filevault' });
    expect(problem.detail).toContain('no password was sent');
  });

  it('ignores a custom banner that contains the words "locked down"', () => {
    const banner = 'This system is locked down; authorised use only.';
    const problem = diagnose({ phase: 'authentication', errors: refused, methodsLeft: ['publickey'], banner });
    expect(problem.code).toBe('ssh/authentication-failed');
  });

  it('reports a bad host key before any later failure', () => {
    const seen = { type: 'ssh-ed25519', base64: 'AAAA' };
    const verdicts = [
      ['unknown', 'ssh/host-key-unknown'],
      ['changed', 'ssh/host-key-changed'],
      ['revoked', 'ssh/host-key-revoked'],
      ['certificate-authority', 'ssh/certificate-authority'],
    ] as const;
    for (const [kind, code] of verdicts) {
      const verdict = { kind, seen, known: { ...seen, file: '~/.ssh/known_hosts', line: 7 } };
      expect(diagnose({ phase: 'key-exchange', verdict, plaintext: identified, isLate: true })).toMatchObject({ code });
    }
    expect(diagnose({ phase: 'key-exchange', verdict: { kind: 'unreadable' } }).code).toBe('ssh/host-key-unknown');
  });

  it('shows both fingerprints, the known line and how to compare a changed key', () => {
    const problem = diagnose({
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

  it('names the algorithms of both sides when none match', () => {
    const offer = {
      kex: ['mlkem768x25519-sha256'],
      hostKey: ['ssh-ed25519'],
      cipher: ['aes128-ctr'],
      mac: ['hmac-sha2-256'],
    };
    const errors = [{ level: 'handshake', codes: [], message: 'Handshake failed: no matching key exchange algorithm' }];
    const problem = diagnose({ phase: 'key-exchange', errors, plaintext: { ...identified, offer } });
    expect(problem.code).toBe('ssh/no-common-algorithm');
    expect(problem.detail).toContain('the node offers mlkem768x25519-sha256; meshwright supports curve25519-sha256');
  });
});

describe('similar connection failures', () => {
  const errorsOf = (...messages: readonly string[]) => messages.map((message) => ({ codes: [], message }));
  const codeOf = (failure: Partial<ConnectFailure>) => diagnose({ plaintext: identified, ...failure }).code;

  it('report network errors as unreachable', () => {
    for (const code of ['ENODATA', 'ENETUNREACH', 'EHOSTDOWN'])
      expect(codeOf({ errors: socketError(code) })).toMatch(/un/);
    expect(diagnose({ phase: 'name' }).detail).toMatch(/could not be reached: the connection was closed\.$/);
    expect(diagnose({ isLate: true, errors: socketError('ENOTFOUND') }).detail).toMatch(/looked up within 10 s\.$/);
  });

  it('count as a refused login only if authentication started in time', () => {
    const login = { phase: 'authentication' } as const;
    expect(codeOf({ ...login, errors: refused })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...login, methodsLeft: [] })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...login, methodsLeft: ['publickey'], isLate: true })).toBe('ssh/timed-out');
    const early = { phase: 'key-exchange' } as const;
    expect(codeOf({ ...early, errors: [{ codes: ['14'], message: 'no more' }] })).toBe('ssh/authentication-failed');
    expect(codeOf({ ...early, methodsLeft: ['publickey'] })).toBe('ssh/dropped');
    expect(codeOf({ ...early, unsigned: ['key'] })).toBe('ssh/dropped');
    expect(codeOf({ ...early, errors: errorsOf('Too many authentication failures') })).toBe('ssh/dropped');
  });

  it('name every login method that the node still accepts', () => {
    const login = { phase: 'authentication', plaintext: identified, leftOut: 1 } as const;
    diagnose({
      ...login,
      errors: errorsOf('first', 'Too many authentication failures'),
      methodsLeft: ['publickey', 'x'],
    });
    diagnose({ ...login, errors: refused, methodsLeft: ['password', 'keyboard-interactive'] });
    diagnose({ ...login, errors: refused, methodsLeft: ['password', 'publickey'], isPartial: true });
  });

  it('distinguish an unproven host key from a dropped connection', () => {
    const errors = errorsOf('x', 'Handshake failed: signature verification failed');
    expect(codeOf({ phase: 'key-exchange', errors })).toBe('ssh/host-key-unproven');
    const plaintext = { ...identified, greeting: 'hello' };
    expect(codeOf({ phase: 'key-exchange', plaintext })).toBe('ssh/dropped');
  });

  it('name the first kind of algorithm that is not shared', () => {
    const shared = {
      kex: ['curve25519-sha256'],
      hostKey: ['rsa-sha2-256'],
      cipher: ['aes128-ctr'],
      mac: ['hmac-sha2-512'],
    };
    const errors = errorsOf('x', 'no matching C->S MAC');
    const missing = (offer?: typeof shared) =>
      diagnose({ phase: 'key-exchange', errors, plaintext: { ...identified, ...(offer && { offer }) } });
    for (const kind of Object.keys(shared)) {
      expect(missing({ ...shared, [kind]: ['old', 'older'] }).code).toBe('ssh/no-common-algorithm');
    }
    expect([missing(shared).detail, missing().detail]).toEqual([
      'x; no matching C->S MAC.',
      'x; no matching C->S MAC.',
    ]);
  });
});

describe("a Mac's banner", () => {
  it('identifies a locked Mac by both FileVault sentences, and a successful unlock', () => {
    const texts = ['This system is locked. To unlock it, type', 'system is locked.', 'to unlock it', ''];
    expect(texts.map(isFileVaultBanner)).toEqual([true, false, false, false]);
    expect(['System  successfully\nunlocked.', 'unlocked', ''].map(saysUnlocked)).toEqual([true, false, false]);
  });
});

describe('text from a node', () => {
  it('is shown shortened and without control characters', () => {
    expect(quoteNodeText('a\u001b]0;x\u0007b\r\n\u2028')).toBe('a\\x1b]0;x\\x07b\\x0d\\x0a\\x2028');
    expect(quoteNodeText('x'.repeat(500))).toBe(`${'x'.repeat(120)}…`);
    expect(quoteNodeText('x'.repeat(120))).toBe('x'.repeat(120));
  });
});

onOnePage('connect-failure');
