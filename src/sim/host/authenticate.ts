import type { AuthContext, AuthenticationType, Connection, PublicKeyAuthContext } from 'ssh2';
import ssh2 from 'ssh2';

/** Who may log in, and how a refusal looks. */
export interface AuthenticateOptions {
  readonly user: string;
  /** `ssh-ed25519 AAAA…`; undefined when no key is good enough (FileVault). */
  readonly acceptedKey: string | undefined;
  /** Named in every refusal, as sshd lists what it would take. */
  readonly methods: readonly AuthenticationType[];
  readonly onAttempt: () => void;
}

/** sshd's MaxAuthTries. */
const maxTries = 6;

function isAccepted(context: PublicKeyAuthContext, acceptedKey: string): boolean {
  const key = ssh2.utils.parseKey(acceptedKey);
  if (key instanceof Error || context.key.algo !== key.type) return false;
  if (!key.getPublicSSH().equals(context.key.data)) return false;
  if (context.signature === undefined || context.blob === undefined) return true; // only asks whether it would do
  return key.verify(context.blob, context.signature, context.hashAlgo) === true;
}

/**
 * Lets in the one user with the one key. Passwords and keyboard-interactive are offered, as a Mac does, and always
 * refused; after six refusals the connection ends.
 */
export function authenticate(client: Connection, options: AuthenticateOptions): void {
  let refused = 0;
  client.on('authentication', (context: AuthContext) => {
    options.onAttempt();
    const { acceptedKey } = options;
    const isMine = context.username === options.user && context.method === 'publickey' && acceptedKey !== undefined;
    if (isMine && isAccepted(context, acceptedKey)) {
      context.accept();
      return;
    }
    if (context.method !== 'none') refused += 1;
    context.reject([...options.methods]);
    if (refused >= maxTries) client.end();
  });
}
