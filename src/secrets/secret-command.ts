import { spawn } from 'node:child_process';
import type { SecretSource } from '../model/secret.ts';
import { mostRawBytes, type RawSecret } from './raw-secret.ts';

/** What a program that prints a secret is run with. */
interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly signal?: AbortSignal;
  /** 30 s unless given. */
  readonly deadlineMs?: number;
}

const patienceMs = 30_000;

/**
 * What a program prints on stdout; it gets no input, no shell reads its words, and nothing that it prints is shown:
 * who wants to see why it failed runs it by hand.
 */
export function runSecretCommand(
  { argv, hidden = [] }: Extract<SecretSource, { kind: 'command' }>,
  context: CommandContext,
): Promise<RawSecret> {
  const [program = '', ...words] = argv;
  const { env, folder, signal, deadlineMs = patienceMs } = context;
  const hint = 'Run that command by hand and correct what it complains about.';
  const running = new Promise<RawSecret>((resolve) => {
    const child = spawn(program, words, {
      cwd: folder,
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name))),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
      ...(signal === undefined ? {} : { signal }),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (why: string): void => resolve({ kind: 'refused', why: `\`${program}\` ${why}.`, hint });
    // A child of the program may keep the pipe after it: nobody waits for that one.
    const end = (code: number | null, by: NodeJS.Signals | null): void => {
      child.stdout.destroy();
      if (size > mostRawBytes) refuse('prints too much for a password');
      else if (by === 'SIGKILL') refuse(`did not end within ${deadlineMs / 1000} s`);
      else if (code !== 0) refuse(code === null ? `was ended by ${by}` : `ended with exit ${code}`);
      else resolve({ kind: 'bytes', bytes: Buffer.concat(chunks) });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostRawBytes) chunks.push(chunk);
      else child.kill('SIGKILL');
    });
    child.once('error', (error) => refuse(startFailure(error)));
    child.once('exit', (code, by) => {
      const last = setTimeout(() => end(code, by), 200);
      child.once('close', () => {
        clearTimeout(last);
        end(code, by);
      });
    });
  });
  // Of some programs the system says at once that they cannot be run.
  return running.catch((error: unknown) => ({ kind: 'refused', why: `\`${program}\` ${startFailure(error)}.`, hint }));
}

function startFailure(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'was interrupted';
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return code === 'ENOENT' ? 'is not there' : `could not be run (${code})`;
}
