import type { AuthContext, AuthenticationType, Connection, KeyboardAuthContext, PublicKeyAuthContext } from 'ssh2';
import ssh2 from 'ssh2';

/** Who may log in, and how a refusal looks. */
export interface AuthenticateOptions {
  readonly user: string;
  /** `ssh-ed25519 AAAA…`, asked at each attempt; none when no key is good enough (FileVault). */
  readonly keys: () => Promise<readonly string[]>;
  /** Of the account, asked at each attempt; undefined when none is taken. */
  readonly password: () => string | undefined;
  /** Named in every refusal, as sshd lists what it would take. */
  readonly methods: readonly AuthenticationType[];
  readonly onAttempt: () => void;
  /** Told of every password that comes, before it is judged. */
  readonly onPassword: () => void;
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

/** What a Mac asks for by keyboard-interactive: one answer that is not shown. */
const askPassword = (context: KeyboardAuthContext): Promise<string | undefined> =>
  new Promise((resolve) => {
    context.prompt([{ prompt: 'Password:', echo: false }], ([answer]) => resolve(answer));
  });

async function mayLogIn(
  context: AuthContext,
  { user, keys, password, methods, onPassword }: AuthenticateOptions,
): Promise<boolean> {
  const isUser = context.username === user;
  switch (context.method) {
    case 'publickey':
      return isUser && (await keys()).some((key) => isAccepted(context, key));
    case 'password':
      onPassword();
      return isUser && context.password === password();
    case 'keyboard-interactive': {
      const wanted = methods.includes('keyboard-interactive') ? password() : undefined;
      return wanted !== undefined && (await askPassword(context)) === wanted && isUser;
    }
    default:
      return false;
  }
}

/**
 * Lets in the one user with one of the keys or with the password, by either of the two methods that a Mac has for it;
 * after six refusals the connection ends. No password is written down.
 */
export function authenticate(client: Connection, options: AuthenticateOptions): void {
  let refused = 0;
  const refuse = (context: AuthContext): void => {
    if (context.method !== 'none') refused += 1;
    context.reject([...options.methods]);
    if (refused >= maxTries) client.end();
  };
  client.on('authentication', (context: AuthContext) => {
    options.onAttempt();
    mayLogIn(context, options).then(
      (isIn) => {
        if (isIn) context.accept();
        else refuse(context);
      },
      () => refuse(context),
    );
  });
}
