import type {
  AnyAuthMethod,
  AuthHandlerMiddleware,
  BaseAgent,
  ParsedKey,
  SignCallback,
  SigningRequestOptions,
} from 'ssh2';
import type { AttemptRecord } from '../attempt-record.ts';
import { loadSsh2 } from '../load-ssh2.ts';
import type { Offer } from './identities.ts';

const weakText = 'the node accepts RSA signatures with SHA-1 only';

/** RSA keys may sign with SHA-2 only; ssh2 would fall back to SHA-1 for a server that announces nothing better. */
const isWeak = (key: ParsedKey, hash: string | undefined): boolean =>
  key.type === 'ssh-rsa' && hash !== 'sha256' && hash !== 'sha512';

/** A key of a file, which refuses to sign weakly. ssh2 takes an error as the answer of `sign`. */
function strictKey(key: ParsedKey): ParsedKey {
  const sign = key.sign.bind(key);
  return Object.assign(key, {
    sign: (data: Buffer | string, hash?: string) => (isWeak(key, hash) ? new Error(weakText) : sign(data, hash)),
  });
}

type AuthRecord = Pick<AttemptRecord, 'refused' | 'asked' | 'signed'>;

/** An agent that holds exactly one key, so that the keys of an agent are tried one by one like files. */
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
 * Login by public key alone: no `none` request first (it would cost a round trip), one attempt per key, never a
 * password, never a second try. Only when the agent's keys were refused is one `none` request sent, since ssh2 tells
 * the remaining methods of a node for other requests only, and they tell a locked Mac from a wrong key.
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
