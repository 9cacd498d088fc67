import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { SecretSource } from '../../model/secret.ts';
import { askHidden, type SecretContext } from '../../secrets/resolve-secret.ts';
import { type Run, textOption, usageError } from '../verb.ts';

/** The source that the command line names; undefined when it names none. @throws FleetError `cli/usage` */
export function typedPasswordSource(run: Run): SecretSource | undefined {
  const [name, path] = [textOption(run, 'passwordEnv'), textOption(run, 'passwordFile')];
  if (name !== undefined && path !== undefined) {
    throw usageError('--password-env and --password-file are both given.', 'Leave one of the two out.');
  }
  if (name !== undefined) {
    // Whoever types a password here would find it quoted.
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
      throw usageError(
        'What stands behind --password-env is no name of a variable.',
        'Name one, such as MESH_PASSWORD.',
      );
    }
    return { kind: 'env', name };
  }
  if (path === undefined) return undefined;
  return { kind: 'file', path: path.startsWith('~/') ? path : resolve(run.folder, path) };
}

type SecretSubject = Pick<SecretContext, 'subject' | 'folder' | 'question' | 'what'>;

/** What resolving a secret may reach in this run: its environment, files, and the terminal if there is one. */
export function secretContext(run: Run, about: SecretSubject): SecretContext {
  const { env, signal } = run;
  const context = { ...about, env, home: env['HOME'] || homedir(), signal, onResolved: run.log?.hide };
  return run.console.canAsk ? { ...context, ask: (question) => askAtTerminal(run, question) } : context;
}

/** Asks at the terminal without echo. The caller knows that somebody can be asked. */
const askAtTerminal = (run: Run, question: string): Promise<string | undefined> =>
  askHidden(question, {
    input: process.stdin,
    write: (text) => run.console.err(text),
    signal: run.signal,
    // Raw mode takes Ctrl-C from the terminal; it means the run here as everywhere.
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
  });
