import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { RankPlace } from '../../src/drivers/contract/driver.ts';
import { configure } from '../../src/drivers/mlx/configure.ts';
import type { MlxRuntime } from '../../src/drivers/mlx/runtime.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Text } from '../../src/model/step.ts';
import { nodePath, renderPath } from '../../src/node/paths/node-paths.ts';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { meshFleet, mlxRuntime, placed } from '../rack/placements.ts';
import type { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** A program in the place of Python, and its model. */
export interface RankProgram {
  /** A folder with `venv/bin/python`, below {@link place}. */
  readonly runtime: string;
  readonly model: string;
  /** The home of ranks, with their files. */
  readonly place: ReturnType<typeof temporaryFolder>;
}

/** Ranks of one mesh on this computer. */
export interface LocalRanks {
  /** Where the leader answers. */
  readonly port: number;
  readonly ask: (path: string, body?: unknown) => Promise<Response>;
  readonly log: () => string;
  /** Sends a signal to a rank. */
  readonly signal: (rank: number, name: NodeJS.Signals) => void;
  /** Ends all ranks. */
  readonly stop: () => Promise<void>;
}

const textOf = (text: unknown): string =>
  typeof text === 'string'
    ? text
    : (text as Text)
        .map((part) => (typeof part === 'object' && part.kind === 'node-path' ? renderPath(part, '') : part))
        .join('');

/** The command line and the variables that the driver gives a rank. It also writes its files. */
export function commandOf({ runtime, model, place }: RankProgram, size: number, rank: number, port: number) {
  const nodes = Array.from({ length: size }, (_, at) => `studio-${at + 1}`);
  const placement = placed('chat', nodes, size === 4 ? { sharding: 'pipeline' } : {});
  const [known] = meshFleet().models;
  if (known === undefined) throw new Error('the fleet has no model');
  const files = `files-${port}`;
  const one: RankPlace<MlxRuntime> = {
    ...{ placement, runtime: mlxRuntime, model: known, node: nodeName('studio-1'), rank, account: '', generation: 1 },
    ...{ port, endpointPort: port, devices: [], cables: [], lan: [], hosts: [] },
    // On Linux, each address of this range is this computer's.
    addresses: nodes.map((_, at) => `127.0.0.${at + 2}`),
    between: [],
    runtimeFolder: nodePath(`/${place.at(runtime).slice(1)}`),
    modelFolder: nodePath(`/${model.slice(1)}`),
    filesFolder: nodePath(`/${place.at(files).slice(1)}`),
  };
  const command = configure(one);
  for (const file of command.files) {
    if (file.kind === 'file') place.write(`${files}/${file.name}`, textOf(file.content));
    if (file.kind === 'folder') mkdirSync(place.at(`${files}/${file.name}`), { recursive: true });
  }
  const env = Object.entries(command.env).map(([name, value]) => [
    name,
    textOf('kind' in Object(value) ? [value] : value),
  ]);
  return {
    argv: command.argv.map(textOf),
    env: { ...Object.fromEntries(env), HOME: place.path, PATH: '/usr/bin:/bin' },
  };
}

/** Starts all ranks, and waits until the leader listens. @throws Error with their log if a rank exits first */
export async function startRanks(program: RankProgram, size: number): Promise<LocalRanks> {
  const claims = createPortClaims();
  const port = await claims.take();
  let log = '';
  const ranks: ChildProcess[] = Array.from({ length: size }, (_, rank) => {
    const { argv, env } = commandOf(program, size, rank, port);
    const [python = '', ...words] = argv;
    const child = spawn(python, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (chunk: Buffer) => {
        log += chunk.toString('utf8');
      });
    }
    return child;
  });
  const ask: LocalRanks['ask'] = (path, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const post = { method: 'POST', body: text, headers: { 'content-type': 'application/json' } };
    return fetch(`http://127.0.0.1:${port}${path}`, body === undefined ? {} : post);
  };
  const stop = async (): Promise<void> => {
    const ended = ranks.map((child) => (child.exitCode ?? child.signalCode) === null && once(child, 'exit'));
    for (const child of ranks) child.kill('SIGTERM');
    await Promise.all([...ended, claims.close()]);
  };
  try {
    await until(async () => {
      if (ranks.some(({ exitCode, signalCode }) => (exitCode ?? signalCode) !== null)) throw new Error(log);
      return ask('/health').then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, ask, log: () => log, signal: (rank, name) => void ranks[rank]?.kill(name), stop };
}
