import { describe, expect, it } from 'vitest';
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
const errorsOf = (...messages: readonly string[]) => messages.map((message) => ({ codes: [], message }));
const agentKey = 'agent: work (ssh-ed25519 SHA256:x)';
const fileVaultBanner =
  'This system is locked. To unlock it, use a local\naccount name and password. Once successfully\nunlocked, you will be able to connect normally.\n';
const wrappedBanner = 'This system\r\n is   locked. To\r\nunlock  it, use a local account';
const withBanner = (banner: string) => ({ errors: refused, methodsLeft: ['password'], banner });

describe('a failed connection', () => {
  it.each<[string, string, Partial<ConnectFailure>]>([
    ['ssh/refused', 'the node refuses it', { errors: socketError('ECONNREFUSED') }],
    ['ssh/unreachable', 'only one address refuses it', { errors: socketError('EHOSTUNREACH', 'ECONNREFUSED') }],
    ['ssh/unreachable', 'one address refuses, another is silent', { errors: socketError('ETIMEDOUT', 'ECONNREFUSED') }],
    ['ssh/unreachable', 'only codes are known', { errors: [{ codes: ['ETIMEDOUT', 'ECONNREFUSED'], message: '' }] }],
    ['ssh/unreachable', 'the name does not exist', { errors: socketError('ENOTFOUND') }],
    ['ssh/unreachable', 'the name has no address', { errors: socketError('ENODATA') }],
    ['ssh/unreachable', 'the name cannot be looked up now', { errors: socketError('EAI_AGAIN') }],
    ['ssh/unreachable', 'the name is looked up for too long', { phase: 'name', isLate: true }],
    ['ssh/unreachable', 'the name is not found in time', { errors: socketError('ENOTFOUND'), isLate: true }],
    ['ssh/unreachable', 'it ends at the name lookup', { phase: 'name' }],
    ['ssh/unreachable', 'no route leads to the host', { errors: socketError('EHOSTUNREACH') }],
    ['ssh/unreachable', 'no route leads to the network', { errors: socketError('ENETUNREACH') }],
    ['ssh/unreachable', 'the host is down', { errors: socketError('EHOSTDOWN') }],
    ['ssh/unreachable', 'the operating system gives up', { errors: socketError('ETIMEDOUT') }],
    ['ssh/unreachable', 'nothing answers in time', { isLate: true }],
    ['ssh/unreachable', 'no reason is known', {}],
  ])('is reported before TCP connects as %s if %s', (code, _, failure) => {
    expect(diagnose(failure).code).toBe(code);
  });

  it.each<[string, string, Partial<ConnectFailure>]>([
    ['ssh/timed-out', 'the node is silent', { phase: 'identification', isLate: true }],
    ['ssh/timed-out', 'it only identifies itself', { phase: 'identification', isLate: true, plaintext: identified }],
    ['ssh/timed-out', 'the key exchange is late', { phase: 'key-exchange', isLate: true, plaintext: identified }],
    ['ssh/timed-out', 'the login is late', { phase: 'authentication', isLate: true, plaintext: identified }],
    ['ssh/not-ssh', 'a mail server greets', { phase: 'identification', plaintext: { greeting: '220 mail' } }],
    [
      'ssh/not-ssh',
      'a mail server greets and waits',
      { phase: 'identification', isLate: true, plaintext: { greeting: '220 mail' } },
    ],
    ['ssh/dropped', 'the socket ends at the greeting', { phase: 'identification' }],
    ['ssh/dropped', 'the socket breaks', { phase: 'key-exchange', errors: socketError('ECONNRESET') }],
    ['ssh/dropped', 'the socket ends at the login', { phase: 'authentication', plaintext: identified }],
    [
      'ssh/dropped',
      'the socket ends after a greeting',
      { phase: 'key-exchange', plaintext: { ...identified, greeting: 'hello' } },
    ],
    [
      'ssh/too-many-connections',
      'sshd has too many logins',
      { phase: 'identification', plaintext: { greeting: 'Exceeded MaxStartups\r\n' } },
    ],
    [
      'ssh/too-many-connections',
      'sshd penalizes this computer',
      { phase: 'identification', plaintext: { greeting: 'Not allowed at this time\r\n' } },
    ],
    [
      'ssh/too-many-connections',
      'sshd disconnects with reason 12',
      { phase: 'authentication', errors: [{ codes: ['12'], message: 'Too many connections' }] },
    ],
    [
      'ssh/host-key-unproven',
      'the node cannot sign with its host key',
      { phase: 'key-exchange', errors: errorsOf('x', 'Handshake failed: signature verification failed') },
    ],
  ])('is reported after TCP connects as %s if %s', (code, _, failure) => {
    expect(diagnose(failure).code).toBe(code);
  });

  it.each<[string, string, Partial<ConnectFailure>]>([
    ['ssh/authentication-failed', 'no key is accepted', { errors: refused, methodsLeft: ['publickey'] }],
    ['ssh/authentication-failed', 'only passwords are accepted', { errors: refused, methodsLeft: ['password'] }],
    [
      'ssh/authentication-failed',
      'no method of meshwright is accepted',
      { errors: refused, methodsLeft: ['password', 'keyboard-interactive'], leftOut: 1 },
    ],
    [
      'ssh/authentication-failed',
      'a password is also required',
      { errors: refused, methodsLeft: ['password'], isPartial: true },
    ],
    [
      'ssh/authentication-failed',
      'a password or a second key is also required',
      { errors: refused, methodsLeft: ['password', 'publickey'], isPartial: true, leftOut: 1 },
    ],
    ['ssh/authentication-failed', 'ssh2 names no method', { errors: refused }],
    ['ssh/authentication-failed', 'no method is left', { methodsLeft: [] }],
    [
      'ssh/authentication-failed',
      'it offers too many keys',
      { errors: [{ codes: ['2'], message: 'Too many authentication failures' }] },
    ],
    [
      'ssh/authentication-failed',
      'it leaves out a key and offers too many others',
      { errors: errorsOf('first', 'Too many authentication failures'), methodsLeft: ['publickey', 'x'], leftOut: 1 },
    ],
    [
      'ssh/authentication-failed',
      'sshd has no more methods',
      { phase: 'key-exchange', errors: [{ codes: ['14'], message: 'no more' }] },
    ],
    ['ssh/timed-out', 'the login began and is late', { methodsLeft: ['publickey'], isLate: true }],
    ['ssh/dropped', 'the login did not begin', { phase: 'key-exchange', methodsLeft: ['publickey'] }],
    ['ssh/dropped', 'the login did not begin for an unsigned key', { phase: 'key-exchange', unsigned: ['key'] }],
    [
      'ssh/dropped',
      'the node only claims that there were too many keys',
      { phase: 'key-exchange', errors: errorsOf('Too many authentication failures') },
    ],
    ['ssh/agent-declined', 'the agent signs nothing', { errors: refused, unsigned: [agentKey] }],
    ['ssh/agent-declined', 'the agent is late', { isLate: true, unsigned: [agentKey] }],
    ['ssh/locked-at-filevault', "macOS's banner appears", withBanner(fileVaultBanner)],
    ['ssh/locked-at-filevault', "macOS's banner is wrapped differently", withBanner(wrappedBanner)],
    [
      'ssh/authentication-failed',
      'a custom banner contains the words "locked down"',
      withBanner('This system is locked down; authorised use only.'),
    ],
  ])('is reported at the login as %s if %s', (code, _, failure) => {
    expect(diagnose({ phase: 'authentication', plaintext: identified, ...failure }).code).toBe(code);
  });

  it('is reported as a bad host key before any later failure', () => {
    const seen = { type: 'ssh-ed25519', base64: 'AAAA' };
    const verdicts = [
      ['unknown', 'ssh/host-key-unknown'],
      ['changed', 'ssh/host-key-changed'],
      ['revoked', 'ssh/host-key-revoked'],
      ['certificate-authority', 'ssh/certificate-authority'],
    ] as const;
    for (const [kind, code] of verdicts) {
      const verdict = { kind, seen, known: { ...seen, file: '~/.ssh/known_hosts', line: 7 } };
      expect(diagnose({ phase: 'key-exchange', verdict, plaintext: identified, isLate: true }).code).toBe(code);
    }
    expect(diagnose({ phase: 'key-exchange', verdict: { kind: 'unreadable' } }).code).toBe('ssh/host-key-unknown');
  });

  it('shows both fingerprints, the known line and how to compare a changed key', () => {
    const known = { type: 'ssh-ed25519', base64: 'AAAA', file: 'cluster.lock', line: 14 };
    const seen = { type: 'ecdsa-sha2-nistp256', base64: 'BBBB' };
    const problem = diagnose({ phase: 'key-exchange', verdict: { kind: 'changed', seen, known } });
    expect(problem.detail.match(/SHA256:/gu)).toHaveLength(2);
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
  });

  it('names the first kind of algorithm that is not shared', () => {
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
    for (const offer of [shared, undefined]) expect(missing(offer).detail).toBe('x; no matching C->S MAC.');
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
