import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { SecretSource } from '../../model/secret.ts';
import { askHidden, type SecretContext } from '../../secrets/resolve-secret.ts';
import { type Run, textOption, usageError } from '../verb.ts';

/** The password source on the command line, if any. @throws FleetError `cli/usage` */
export function typedPasswordSource(run: Run): SecretSource | undefined {
  const [name, path] = [textOption(run, 'passwordEnv'), textOption(run, 'passwordFile')];
  if (name !== undefined && path !== undefined) {
    throw usageError('--password-env and --password-file cannot be combined.', 'Leave out one of them.');
  }
  if (name !== undefined) {
    // The error does not quote the value, because users may have entered a password here.
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
      throw usageError(
        'The value of --password-env is not the name of an environment variable.',
        'Enter a name, such as MESH_PASSWORD.',
      );
    }
    return { kind: 'env', name };
  }
  if (path === undefined) return undefined;
  return { kind: 'file', path: path.startsWith('~/') ? path : resolve(run.folder, path) };
}

type SecretSubject = Pick<SecretContext, 'subject' | 'folder' | 'question' | 'what'>;

/** The context for reading a secret in this run: the environment, files, and the terminal, if any. */
export function secretContext(run: Run, about: SecretSubject): SecretContext {
  const { env, signal } = run;
  const context = { ...about, env, home: env['HOME'] || homedir(), signal, onResolved: run.secrets.add };
  return run.console.canAsk ? { ...context, ask: (question) => askAtTerminal(run, question) } : context;
}

/** Asks at the terminal without echo. The caller must have checked that there is a terminal. */
const askAtTerminal = (run: Run, question: string): Promise<string | undefined> =>
  askHidden(question, {
    input: process.stdin,
    write: (text) => run.console.err(text),
    signal: run.signal,
    // In raw mode Ctrl-C sends no signal, so the signal is sent here.
    abort: () => void process.kill(process.pid, 'SIGINT'),
  });
