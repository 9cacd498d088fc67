import type {
  AnyAuthMethod,
  AuthHandlerMiddleware,
  BaseAgent,
  ParsedKey,
  SignCallback,
  SigningRequestOptions,
} from 'ssh2';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/diagnostic.ts';
import type { HostKey } from '../model/cluster-lock.ts';
import { nodeSubject } from '../model/subject.ts';
import { type AttemptRecord, attempt, checkTarget, connectionOf, logIn, outcome, reported } from './attempt.ts';
import { diagnoseConnect } from './connect-failure.ts';
import { fingerprint, parseHostKey } from './keys/host-key.ts';
import type { HostKeyTrust } from './keys/host-key-trust.ts';
import { collectIdentities, type Identities, type Offer } from './keys/identities.ts';
import type { ConnectLimits, Remote, Target } from './remote.ts';
import { type HostKeyAlgorithm, hostKeyAlgorithms, loadSsh2, strictAlgorithms } from './ssh2.ts';

/** A node's host key with its fingerprint, which people can compare. */
interface OfferedHostKey extends HostKey {
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

function refuseWithoutKeys(target: Target, identities: Identities): void {
  if (identities.offers.length > 0) return;
  const subject = nodeSubject(target.label);
  const [first, ...rest] = identities.problems.map((one) => ({ ...one, subject }));
  if (first !== undefined) throw new FleetError([first, ...rest]);
  const detail = `No SSH key available for ${target.user}@${target.host}: no key file exists, and no agent holds a key.`;
  throw new FleetError([diagnose('ssh/no-key', { detail, subject })]);
}

/**
 * Connects to a node and logs in with a public key. The host key is verified before any key is offered.
 * @throws FleetError with exactly one `ssh/…` code about the network, the host key or the login; if there is no key to
 * offer, with one code per key file
 */
export const connect = (target: Target, trust: HostKeyTrust, limits: ConnectLimits): Promise<Remote> =>
  reported(target, limits, () => connectByKey(target, trust, limits));

async function connectByKey(target: Target, trust: HostKeyTrust, limits: ConnectLimits): Promise<Remote> {
  checkTarget(target, trust);
  const identities = await collectIdentities(target);
  refuseWithoutKeys(target, identities);
  const tried = await attempt(target, limits, identities);
  const keysOnly = await publickeyOnly(target.user, identities.offers, tried.record);
  const remote = connectionOf(tried, target, limits, await logIn(tried, { target, trust }, limits, keysOnly));
  if (remote !== undefined) return remote;
  throw new FleetError([diagnoseConnect(target, tried.record.failure())]);
}

/**
 * Reads a node's host key without logging in: the key exchange stops as soon as the key has arrived. If the node has
 * several keys, it shows the first in the order of `algorithms`, which starts with known key types. The default order
 * is Ed25519, ECDSA, RSA.
 * @throws FleetError with one `ssh/…` code about the network
 */
export const fetchHostKey = (
  target: Target,
  limits: ConnectLimits,
  algorithms: readonly HostKeyAlgorithm[] = hostKeyAlgorithms,
): Promise<OfferedHostKey> => reported(target, limits, () => askHostKey(target, limits, algorithms));

async function askHostKey(
  target: Target,
  limits: ConnectLimits,
  algorithms: readonly HostKeyAlgorithm[],
): Promise<OfferedHostKey> {
  checkTarget(target);
  const tried = await attempt(target, limits, { offers: [], leftOut: 0, problems: [] });
  const { client, socket, record } = tried;
  const seen: HostKey[] = [];
  client.connect({
    sock: socket,
    username: target.user,
    algorithms: { ...strictAlgorithms, serverHostKey: [...algorithms] },
    hostVerifier: (blob: Buffer) => {
      const key = parseHostKey(blob);
      if (key === undefined) record.judged({ kind: 'unreadable' });
      else seen.push(key);
      return false;
    },
    authHandler: [],
    readyTimeout: 0,
  });
  await outcome(tried, limits);
  socket.destroy();
  const [key] = seen;
  if (key === undefined) throw new FleetError([diagnoseConnect(target, record.failure())]);
  return { ...key, fingerprint: fingerprint(key) };
}

const weakText = 'the node accepts RSA signatures with SHA-1 only';

/** Whether a signature would be weak: ssh2 uses SHA-1 for RSA keys if the server announces nothing better. */
const isWeak = (key: ParsedKey, hash: string | undefined): boolean =>
  key.type === 'ssh-rsa' && hash !== 'sha256' && hash !== 'sha512';

/** A key from a file that refuses to make weak signatures. ssh2 accepts an error as the result of `sign`. */
function strictKey(key: ParsedKey): ParsedKey {
  const sign = key.sign.bind(key);
  return Object.assign(key, {
    sign: (data: Buffer | string, hash?: string) => (isWeak(key, hash) ? new Error(weakText) : sign(data, hash)),
  });
}

type AuthRecord = Pick<AttemptRecord, 'refused' | 'asked' | 'signed'>;

/** An agent with exactly one key, so that an agent's keys are tried one by one, like key files. */
async function agentOf({ key, label }: Offer, agent: BaseAgent, record: AuthRecord): Promise<BaseAgent> {
  const { OpenSSHAgent } = await loadSsh2();
  return Object.assign(new OpenSSHAgent(''), {
    getIdentities: (done: (error: undefined, keys: ParsedKey[]) => void): void => done(undefined, [key]),
    sign: (_key: unknown, data: Buffer, options: SigningRequestOptions, done: SignCallback): boolean => {
      if (isWeak(key, options.hash)) {
        done(new Error(weakText));
        return true;
      }
      record.asked(label);
      agent.sign(key, data, options, (error, signature) => {
        if (!error) record.signed(label);
        done(error, signature);
      });
      return true;
    },
  });
}

async function methodOf(username: string, offer: Offer, record: AuthRecord): Promise<AnyAuthMethod> {
  const { key, signer } = offer;
  return signer.kind === 'file'
    ? { type: 'publickey', username, key: strictKey(key) }
    : { type: 'agent', username, agent: await agentOf(offer, signer.agent, record) };
}

/**
 * Logs in only with public keys: one attempt per key, never a password, never a retry. It sends no `none` request
 * first, which would cost a round trip. If the agent's keys were rejected, one `none` request follows, because only
 * then does ssh2 report the node's remaining methods, which distinguish a locked Mac from a wrong key.
 */
export async function publickeyOnly(
  username: string,
  offers: readonly Offer[],
  record: AuthRecord,
): Promise<AuthHandlerMiddleware> {
  const methods = await Promise.all(offers.map((offer) => methodOf(username, offer, record)));
  let last: AnyAuthMethod['type'] | undefined;
  return (methodsLeft: readonly string[] | null, isPartial: boolean | null, next) => {
    if (methodsLeft !== null) record.refused(methodsLeft, isPartial === true);
    const isOver = methodsLeft !== null && (isPartial === true || !methodsLeft.includes('publickey'));
    const following = isOver ? undefined : methods.shift();
    const method = following ?? (last === 'agent' ? { type: 'none' as const, username } : undefined);
    if (method === undefined) return false;
    last = method.type;
    return next(method);
  };
}
