import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/**
 * Starts a module as a separate process, for limits and signals that a test cannot apply to itself.
 *
 * @param module its text; `./src/…` are the sources
 * @param before lines of sh that run first, such as `ulimit -f 8`
 */
export const startModule = (module: string, before = ':'): ChildProcess =>
  spawn(
    '/bin/sh',
    ['-c', `${before}\nexec "$@"`, 'sh', process.execPath, '--import', tsx, '--input-type=module', '-e', module],
    // The limits would also affect tsx's cache for the next start.
    { cwd: root, env: { ...process.env, TSX_DISABLE_CACHE: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );

/** The output of a module on both streams, and its exit. */
export async function runModule(module: string, before?: string): Promise<{ said: string; code: unknown }> {
  const child = startModule(module, before);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = await once(child, 'close');
  return { said, code };
}
