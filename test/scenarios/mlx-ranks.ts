import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rankProgram } from '../../src/drivers/mlx/configure.ts';
import { writeRequirements, writeUvArchive } from '../../src/sim/doubles/doubles.ts';
import { writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { expectNobodyBelow } from '../rack/running.ts';

/** The addresses where ranks meet and where the leader answers, as the ranks see them. */
export const coordinator = '198.18.0.10:51000';
export const endpoint = '127.0.0.1:8080';

/** The result of a call of the uv double. */
export interface UvAnswer {
  readonly status: number | null;
  readonly error: string;
}

/** The doubles, unpacked, with a venv for ranks. */
export interface MlxBench {
  readonly folder: string;
  /** Calls the uv double, by default with the environment that meshwright gives to uv. */
  readonly uv: (words: readonly string[], env?: Readonly<Record<string, string>>) => UvAnswer;
  /** Creates a venv from the usual list. */
  readonly venv: () => string;
  readonly remove: () => Promise<void>;
}

/** The whole environment that meshwright gives to uv, below a folder. */
const uvEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  UV_NO_CONFIG: '1',
  UV_MANAGED_PYTHON: '1',
  UV_NO_CACHE: '1',
  UV_PYTHON_INSTALL_DIR: `${folder}/opt/meshwright/python`,
});

/** Unpacks the doubles into a new folder. */
export async function openBench(): Promise<MlxBench> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-mlx-'));
  await writeUvArchive(join(folder, 'uv.tar.gz'));
  await writeRequirements(join(folder, 'requirements.lock'), { 'mlx-lm': '0.32.2', mlx: '0.32.4' });
  await writeFile(join(folder, 'rank.py'), rankProgram);
  spawnSync('tar', ['-xzf', join(folder, 'uv.tar.gz'), '-C', folder]);
  const program = join(folder, 'uv-aarch64-apple-darwin/uv');
  const uv: MlxBench['uv'] = (words, env = uvEnvironment(folder)) => {
    const { status, stderr } = spawnSync(program, words, {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    });
    return { status, error: stderr.trimEnd() };
  };
  let made = 0;
  return {
    folder,
    uv,
    venv: () => {
      made += 1;
      const to = join(folder, `venv-${made}`);
      const calls = [
        ['python', 'install', '--no-bin', '3.12'],
        ['venv', '--relocatable', '--no-project', '--python', '3.12', to],
        [
          'pip',
          'sync',
          '--require-hashes',
          '--no-build',
          '--python',
          `${to}/bin/python`,
          `${folder}/requirements.lock`,
        ],
      ];
      for (const words of calls) {
        const { status, error } = uv(words);
        if (status !== 0) throw new Error(error);
      }
      return to;
    },
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      await expectNobodyBelow(folder);
    },
  };
}

/** A started rank. */
export interface StartedRank {
  readonly process: ChildProcess;
  /** The rank's stdout and stderr together. */
  readonly log: () => string;
  /** Resolves with the exit code, or the signal. */
  readonly ended: Promise<number | string | null>;
}

/** Ranks of one mesh in separate folders, each with the files of its Mac. */
export interface RankRack {
  readonly ranks: readonly StartedRank[];
  readonly start: (rank: number, change?: StartChange) => StartedRank;
  /** Writes one file next to the table of a rank. */
  readonly put: (rank: number, name: string, text: string) => Promise<void>;
  readonly place: (address: string) => string;
  readonly close: () => Promise<void>;
}

/** Changes of the start of one rank. */
export interface StartChange {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly words?: readonly string[];
}

/** The options of a rack. */
export interface RackOptions {
  readonly size: number;
  readonly backend?: 'jaccl' | 'ring' | 'alone';
  /** Rows of the device matrix; by default, every pair has a cable. */
  readonly matrix?: unknown;
  /** The real seconds that a second on the Mac takes. */
  readonly clock?: number;
}

/** The device of one rank with the cable to a different rank. */
export const deviceTowards = (rank: number, other: number): string => `rdma_en${2 + ((other - rank + 8) % 8)}`;

/** A matrix with a cable for every pair. */
export const fullMatrix = (size: number): (string | null)[][] =>
  Array.from({ length: size }, (_, rank) =>
    Array.from({ length: size }, (__, other) => (rank === other ? null : deviceTowards(rank, other))),
  );

const cablesOf = (rank: number, size: number): string =>
  Array.from({ length: size }, (_, other) => other)
    .filter((other) => other !== rank)
    .map(
      (other) =>
        `${deviceTowards(rank, other)} 10.77.${rank}.${other} active mac-${rank} mac-${other} ${deviceTowards(other, rank)}\n`,
    )
    .join('');

/** The address where a rank of a ring listens. */
export const ringAddress = (rank: number): string => `10.77.0.${rank + 1}:51000`;

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** Creates a rack: folders, tables and models, without starting a rank. */
export async function openRack(bench: MlxBench, options: RackOptions): Promise<RankRack> {
  const { size, backend = 'jaccl', matrix = fullMatrix(size), clock = 0.2 } = options;
  const claims = createPortClaims();
  const addresses = [coordinator, endpoint, ...Array.from({ length: size }, (_, rank) => ringAddress(rank))];
  const places = new Map<string, string>();
  for (const address of addresses) places.set(address, `127.0.0.1:${await claims.take()}`);
  const venv = bench.venv();
  const home = (rank: number): string => join(venv, `rank-${rank}`);
  for (let rank = 0; rank < size; rank += 1) {
    await mkdir(home(rank), { recursive: true });
    await replace(join(home(rank), 'link-table'), [...places].map((pair) => `${pair.join(' ')}\n`).join(''));
    await replace(join(home(rank), 'rdma-cables'), cablesOf(rank, size));
    await replace(join(home(rank), 'devices.json'), JSON.stringify(matrix));
    await replace(join(home(rank), 'hosts.json'), JSON.stringify(addresses.slice(2).map((one) => [one])));
    await writeTinyModel(join(home(rank), 'model'), 2_000);
  }
  const ranks: StartedRank[] = [];
  const start: RankRack['start'] = (rank, { env = {}, words = [] } = {}) => {
    const options = ['--model', join(home(rank), 'model'), '--port', '8080', ...words];
    const child = spawn(
      `${venv}/bin/python`,
      ['-u', join(bench.folder, 'rank.py'), backend, String(size), ...options],
      {
        env: {
          PATH: process.env['PATH'],
          MESHWRIGHT_LINK_TABLE: join(home(rank), 'link-table'),
          MESHWRIGHT_CLOCK: String(clock),
          MLX_RANK: String(rank),
          MLX_IBV_DEVICES: join(home(rank), 'devices.json'),
          MLX_JACCL_COORDINATOR: coordinator,
          MLX_HOSTFILE: join(home(rank), 'hosts.json'),
          HF_HUB_CACHE: home(rank),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => said.push(String(piece)));
    const ended = new Promise<number | string | null>((resolve) =>
      child.once('close', (code, signal) => resolve(code ?? signal)),
    );
    const started: StartedRank = { process: child, log: () => said.join(''), ended };
    ranks.push(started);
    return started;
  };
  return {
    ranks,
    start,
    put: (rank, name, text) => replace(join(home(rank), name), text),
    place: (address) => places.get(address) ?? '',
    close: async () => {
      for (const { process: child } of ranks) child.kill('SIGKILL');
      await Promise.all(ranks.map(({ ended }) => ended));
      await claims.close();
    },
  };
}
