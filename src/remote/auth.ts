import type { AuthHandlerMiddleware, BaseAgent, ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2';
import type { AttemptRecord } from './attempt-record.ts';
import type { Offer } from './identities.ts';
import { loadSsh2 } from './load-ssh2.ts';

type Hash = string | undefined;

/** RSA keys may sign with SHA-2 only; ssh2 would fall back to SHA-1 for a server that announces nothing better. */
const isWeak = (key: ParsedKey, hash: Hash): boolean =>
  key.type === 'ssh-rsa' && hash !== 'sha256' && hash !== 'sha512';

function sign(offer: Offer, data: Buffer, hash: Hash, done: SignCallback): void {
  if (isWeak(offer.key, hash)) {
    done(new Error('the node accepts RSA signatures with SHA-1 only'));
  } else if (offer.signer.kind === 'agent') {
    const options: SigningRequestOptions = hash === 'sha256' || hash === 'sha512' ? { hash } : {};
    offer.signer.agent.sign(offer.key, data, options, done);
  } else {
    const signature: unknown = offer.key.sign(data, hash);
    if (Buffer.isBuffer(signature)) done(undefined, signature);
    else done(new Error('the key could not sign'));
  }
}

/** An agent that holds exactly one key, so that file keys and agent keys are tried the same way, one attempt each. */
async function agentOf(offer: Offer): Promise<BaseAgent> {
  const { OpenSSHAgent } = await loadSsh2();
  return Object.assign(new OpenSSHAgent(''), {
    getIdentities: (done: (error: undefined, keys: ParsedKey[]) => void): void => done(undefined, [offer.key]),
    sign: (_key: unknown, data: Buffer, options: { readonly hash?: string }, done: SignCallback): boolean => {
      sign(offer, data, options.hash, done);
      return true;
    },
  });
}

/**
 * Login by public key alone: no `none` request first (it would cost a round trip), one attempt per key, never a
 * password, never a second try.
 */
export async function publickeyOnly(
  username: string,
  offers: readonly Offer[],
  record: Pick<AttemptRecord, 'refused'>,
): Promise<AuthHandlerMiddleware> {
  const agents = await Promise.all(offers.map(agentOf));
  return (methodsLeft: readonly string[] | null, isPartial: boolean | null, next) => {
    if (methodsLeft !== null) record.refused(methodsLeft, isPartial === true);
    const isOver = methodsLeft !== null && (isPartial === true || !methodsLeft.includes('publickey'));
    const agent = isOver ? undefined : agents.shift();
    if (agent === undefined) return false;
    return next({ type: 'agent', username, agent });
  };
}
