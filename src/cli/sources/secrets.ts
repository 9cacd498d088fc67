import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { SecretSource } from '../../model/secret.ts';
import { askHidden, type ResolvedSecret, type SecretContext } from '../../secrets/resolve-secret.ts';
import { isAboutTrust, isNamed, needTrust, secretRequests } from '../cluster/trust.ts';
import { homeFolder } from '../files/places.ts';
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
  const allow = (source: SecretSource): Promise<string | undefined> => allowSecret(run, source, about);
  const context = { ...about, allow, env, home: homeFolder(env), signal, onResolved: run.secrets.add };
  return run.console.canAsk ? { ...context, ask: (question) => askAtTerminal(run, question) } : context;
}

/**
 * Returns if this source may be read, with what stands in for the secret in a rehearsal.
 * @throws FleetError `trust/needed`, `trust/declined`
 */
export async function allowSecret(
  run: Run,
  source: SecretSource,
  about: Pick<SecretSubject, 'what' | 'folder'>,
): Promise<string | undefined> {
  // The caller has named this source, or answers the prompt.
  if (source.kind === 'prompt' || isDeepStrictEqual(source, typedPasswordSource(run))) return undefined;
  const simulated = simulatedSecret(run, source, about);
  const { what = 'password', folder } = about;
  if (simulated === undefined) await needTrust(run, secretRequests(run, source, folder, useOf[what]));
  return simulated;
}

/** A secret that may not be read is missing, for a run that has already changed something. */
export async function missingIfRefused<T>(reading: Promise<T>): Promise<T | ResolvedSecret> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof FleetError) || !isAboutTrust(error)) throw error;
    return { kind: 'missing', diagnostic: error.diagnostics[0] };
  }
}

const useOf = { password: 'a password', key: 'an API key', token: 'the Hugging Face token' } as const;

/**
 * What stands in for a secret in a rehearsal, which reads only the sources that `--trust` names; undefined for those,
 * and for real Macs. Each source has another key, and `simulated` is the password of every simulated Mac.
 */
export function simulatedSecret(
  run: Run,
  source: SecretSource,
  { what, folder }: Pick<SecretSubject, 'what' | 'folder'>,
): string | undefined {
  if (run.options.sim !== true || isNamed(run, secretRequests(run, source, folder, ''))) return undefined;
  if (what !== 'key') return 'simulated';
  return `simulated-${createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 24)}`;
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
