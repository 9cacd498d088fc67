import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { concealed, type Secret, type SecretSource, secretSourceText } from '../model/secret.ts';
import type { Subject } from '../model/subject.ts';
import type { Prose } from '../model/text/prose.ts';
import type { RawSecret } from './raw-secret.ts';
import { runSecretCommand } from './secret-command.ts';
import { readSecretFile } from './secret-file.ts';

/** What resolving a secret may reach. */
export interface SecretContext {
  readonly subject: Subject;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths of files start: the folder of the cluster file. */
  readonly folder: string;
  readonly home: string;
  /** Asks a person without echo: undefined when they gave up; absent when nobody can be asked. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** What it gives; a password unless said. */
  readonly what?: 'key';
  /** What is asked at a prompt, such as `Password of mesh on studio-3`. */
  readonly question: string;
  readonly signal?: AbortSignal;
  /** Told of the secret, so that a log can keep it out of its lines. */
  readonly onResolved?: ((secret: string) => void) | undefined;
}

/** The secret, or the one reason why there is none. */
export type ResolvedSecret =
  | { readonly kind: 'resolved'; readonly secret: Secret }
  | { readonly kind: 'missing'; readonly diagnostic: Diagnostic };

const maxBytes = 1_024;

/**
 * A secret from its source, once: one trailing line break is cut, and what is empty, several lines, no text or holds a
 * NUL is refused. No diagnostic holds any of it.
 */
export async function resolveSecret(source: SecretSource, context: SecretContext): Promise<ResolvedSecret> {
  const raw = await rawSecret(source, context);
  if (raw.kind === 'refused') return refused('secret/missing', source, context, raw);
  if (raw.kind === 'exposed') return refused('secret/exposed', source, context, raw);
  const read = cleanSecret(raw.bytes);
  if (read.kind !== 'text') return refused('secret/unusable', source, context, { why: read.why });
  context.onResolved?.(read.text);
  return { kind: 'resolved', secret: concealed(read.text) };
}

function rawSecret(source: SecretSource, context: SecretContext): Promise<RawSecret> {
  switch (source.kind) {
    case 'env':
      return Promise.resolve(fromEnv(source.name, context));
    case 'file':
      return readSecretFile(source.path, context);
    case 'command':
      return runSecretCommand(source, context);
    case 'prompt':
      return fromPerson(context);
  }
}

function fromEnv(name: string, { env }: SecretContext): RawSecret {
  const value = env[name];
  if (value !== undefined) return { kind: 'bytes', bytes: Buffer.from(value) };
  return {
    kind: 'refused',
    why: `The environment variable ${name} is not set.`,
    hint: `Set ${name} for this command.`,
  };
}

async function fromPerson({ ask, question }: SecretContext): Promise<RawSecret> {
  const hint = 'Run it at a terminal, or name another source: env, file or command.';
  if (ask === undefined) return { kind: 'refused', why: 'It is asked for at a terminal, and there is none.', hint };
  const answer = await ask(`${question}: `);
  if (answer !== undefined) return { kind: 'bytes', bytes: Buffer.from(answer) };
  return { kind: 'refused', why: 'Nobody typed it.', hint: 'Run it again.' };
}

type CleanSecret = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'bad'; readonly why: string };

function cleanSecret(bytes: Uint8Array): CleanSecret {
  const bad = (why: string): CleanSecret => ({ kind: 'bad', why });
  if (bytes.length > maxBytes + 2) return bad(`It is longer than ${maxBytes} bytes.`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/u, '');
  } catch {
    return bad('It is no UTF-8 text.');
  }
  if (text === '') return bad('It is empty.');
  if (text.includes('\0')) return bad('It holds a NUL.');
  return /[\r\n]/u.test(text) ? bad('It has more than one line.') : { kind: 'text', text };
}

function refused(
  code: 'secret/missing' | 'secret/exposed' | 'secret/unusable',
  source: SecretSource,
  { subject, what }: SecretContext,
  { why, hint }: { readonly why: string; readonly hint?: Prose },
): ResolvedSecret {
  const detail = `The ${what ?? 'password'} comes from ${secretSourceText(source)}. ${why}`;
  return { kind: 'missing', diagnostic: diagnose(code, { detail, subject, ...(hint === undefined ? {} : { hint }) }) };
}
