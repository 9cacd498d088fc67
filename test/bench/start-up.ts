import { join } from 'node:path';
import { builtCommand, timeRun } from './timed-process.ts';

/** Times of one round, in milliseconds. */
export interface StartUpRound {
  readonly nodeMs: number;
  readonly versionMs: number;
  readonly validateMs: number;
}

const repository = join(import.meta.dirname, '..', '..');

async function time(args: readonly string[], folder: string): Promise<number> {
  const run = await timeRun({
    file: process.execPath,
    args,
    folder: repository,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: folder },
    stdout: join(folder, 'start-up.out'),
    stderr: join(folder, 'start-up.err'),
  });
  if (run.exitCode !== 0) throw new Error(`node ${args.join(' ')} exited with ${run.exitCode}`);
  return run.ms;
}

/** Times a bare Node, `--version` and `validate` of the shipped example, one after another. */
export async function timeStartUp(folder: string): Promise<StartUpRound> {
  const nodeMs = await time(['-e', '0'], folder);
  const versionMs = await time([builtCommand, '--version'], folder);
  const validateMs = await time([builtCommand, 'validate', join(repository, 'cluster.example.yaml')], folder);
  return { nodeMs, versionMs, validateMs };
}
