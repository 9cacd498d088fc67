import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Talk, TalkRequest } from '../../src/drivers/contract/driver.ts';
import { beginDialogue } from '../../src/drivers/registry.ts';
import type { ExoPlacement } from '../../src/model/endpoint-calls.ts';
import { nodeName } from '../../src/model/node.ts';
import { writeExoProgram } from '../../src/sim/doubles/exo-image.ts';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { expectNobodyBelow } from '../rack/running.ts';
import { writeIndexedModel } from '../tiny-models.ts';

/** The dialects of exo. */
export type Dialect = '1.0.71' | 'main';

/** A model in the folder of every double. It is not among exo's own model cards. */
export const modelId = 'acme/tiny';

const apiPort = 52_500;
const meshPort = 53_000;
/** The nodes in rank order. */
export const names = ['studio-1', 'studio-2'] as const;

/** The name of a double. */
export type Name = (typeof names)[number];

/** The arguments of a command line, and changes of the environment. */
export interface Start {
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Two doubles of exo on Macs made of a few scripts, with one cable between them. */
export interface Doubles {
  readonly start: (name: Name, more?: Start) => void;
  /** The exit code and the output of a double after its end. */
  readonly ended: (name: Name) => Promise<{ readonly code: number | null; readonly output: string }>;
  readonly stop: (name: Name, signal?: NodeJS.Signals) => Promise<void>;
  /** The lines of the double's control file. */
  readonly fault: (name: Name, ...lines: readonly string[]) => Promise<void>;
  readonly ask: (
    name: Name,
    request: Pick<TalkRequest, 'method' | 'path' | 'body' | 'limitMs'>,
  ) => Promise<{ readonly status: number; readonly body: string }>;
  /**
   * Runs the dialogue of a placement step ten times as fast. Its time is counted in polls, so a slow computer does not
   * shorten it. When nothing changes any more, according to `still`, the remaining polls follow immediately.
   */
  readonly talk: (change?: Partial<ExoPlacement>, still?: string) => Promise<Talk>;
  readonly log: (name: Name) => Promise<string>;
  readonly close: () => Promise<void>;
}

const script = (lines: string): string => `#!/bin/sh\n${lines}\n`;

/** Tools that exo calls by name. */
function toolsOf(at: number): Readonly<Record<string, string>> {
  const bus = {
    domain_uuid_key: `U${at}`,
    _items: [{ domain_uuid_key: `U${1 - at}` }],
    receptacle_1_tag: { receptacle_id_key: '2', current_speed_key: '80 Gb/s' },
  };
  return {
    ifconfig: `printf 'en3: flags=1\\n\\tinet 10.77.0.${at + 1} netmask 0xfffffffc broadcast 10.77.0.3\\n'`,
    networksetup: "printf '\\nHardware Port: Thunderbolt 2\\nDevice: en3\\nEthernet Address: x\\n'",
    system_profiler: `cat <<'X'\n${JSON.stringify({ SPThunderboltDataType: [bus] })}\nX`,
    sysctl: 'echo 549755813888',
    rdma_ctl: 'echo enabled',
    hostname: `echo ${names[at] ?? ''}.lan`,
  };
}

/** A started double with its output. */
interface Started {
  readonly child: ChildProcess;
  readonly output: Buffer[];
  /** Resolves after the double has exited, when the output is complete. */
  readonly closed: Promise<unknown>;
}

async function end(one: Started | undefined, signal: NodeJS.Signals): Promise<void> {
  one?.child.kill(signal);
  await one?.closed;
}

/** Writes a disk image of exo's app, with the double of exo in the real program's place. */
export async function writeExoImage(path: string, dialect: Dialect = '1.0.71'): Promise<void> {
  const version = dialect === 'main' ? '1.0.72' : dialect;
  await writeExoProgram(path, { program: 'EXO.app/Contents/Resources/exo/exo', dialect, version });
}

/**
 * Writes the double as a build of one commit of exo's main branch. It is what exo's PyInstaller recipe leaves in
 * `dist`, in a folder named after the commit.
 */
export async function writeExoBuild(path: string, commit: string): Promise<void> {
  await writeExoProgram(path, { program: `exo-${commit}/exo`, dialect: 'main', version: '' });
}

/** Creates both doubles without starting them. */
export async function makeDoubles(dialect: Dialect): Promise<Doubles> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-exo-'));
  const claims = createPortClaims();
  await writeExoImage(join(folder, 'exo.dmg'), dialect);
  await writeIndexedModel(join(folder, 'model'));
  const meet = [await claims.take(), await claims.take()];
  const api = [await claims.take(), await claims.take()];
  for (const [at, name] of names.entries()) {
    await makeMac(join(folder, name), { at, meet, api: api[at] ?? 0, folder });
  }
  const running = new Map<Name, Started>();
  // Several can have the same name: a second one in the same home exits, and the first continues.
  const all: Started[] = [];
  const own = dialect === 'main' ? ['--namespace', 'test', '--zenoh-port'] : ['--libp2p-port'];
  const ask: Doubles['ask'] = async (name, { method, path, body, limitMs = 20_000 }) => {
    const signal = AbortSignal.timeout(limitMs);
    const url = `http://127.0.0.1:${api[names.indexOf(name)]}${path}`;
    try {
      const answer = await fetch(url, { method, signal, ...(body === undefined ? {} : { body }) });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return { status: 0, body: '' };
    }
  };
  const stop: Doubles['stop'] = async (name, signal = 'SIGTERM') => end(running.get(name), signal);
  return {
    start: (name, { words, env } = {}) => {
      const root = join(folder, name);
      const forced = name === 'studio-1' ? ['--force-master'] : [];
      const usual = [...forced, '--api-port', String(apiPort), ...own, String(meshPort)];
      const child = spawn(join(root, 'EXO.app/Contents/Resources/exo/exo'), words ?? usual, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: `${root}/bin:/usr/bin:/bin`,
          HOME: `${root}/home`,
          EXO_OFFLINE: 'true',
          EXO_MODELS_READ_ONLY_DIRS: `${root}/models`,
          MESHWRIGHT_LINK_TABLE: `${root}/.sim/link-table`,
          MESHWRIGHT_CLOCK: '0.25',
          ...(dialect === 'main' ? {} : { EXO_LIBP2P_NAMESPACE: 'test' }),
          ...env,
        },
      });
      const output: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece));
      const one = { child, output, closed: once(child, 'close') };
      all.push(one);
      running.set(name, one);
    },
    ended: async (name) => {
      const one = running.get(name);
      await one?.closed;
      return { code: one?.child.exitCode ?? null, output: saidBy(one) };
    },
    stop,
    fault: (name, ...lines) =>
      writeFile(join(folder, name, '.sim/exo-faults'), lines.map((one) => `${one}\n`).join('')),
    ask,
    talk: async (change = {}, still = '') => {
      let atMs = 0;
      const nodes = names.map((name) => nodeName(name));
      const usual = { nodes, port: apiPort, modelId, sharding: 'Tensor', meta: 'MlxJaccl', bytesPerNode: 1 } as const;
      let talk = beginDialogue({ name: 'exo-place', args: { ...usual, ...change } });
      while (talk.kind === 'ask') {
        const isStill = still !== '' && talk.about.includes(still);
        await sleep(isStill ? 1 : talk.afterMs / 10);
        const { node } = talk.request;
        const askedMs = performance.now();
        const heard = await ask(names.find((name) => name === node) ?? 'studio-1', talk.request);
        atMs += talk.afterMs + performance.now() - askedMs;
        talk = talk.hear({ ...heard, atMs });
      }
      return talk;
    },
    log: (name) => Promise.resolve(saidBy(running.get(name))),
    close: async () => {
      await Promise.all(all.map((one) => end(one, 'SIGKILL')));
      await claims.close();
      await rm(folder, { recursive: true, force: true });
      await expectNobodyBelow(folder);
    },
  };
}

const saidBy = (one: Started | undefined): string => Buffer.concat(one?.output ?? []).toString('utf8');

interface Mac {
  readonly at: number;
  readonly meet: readonly number[];
  readonly api: number;
  readonly folder: string;
}

async function makeMac(root: string, { at, meet, api, folder }: Mac): Promise<void> {
  for (const name of ['bin', 'home', '.sim', 'models']) await mkdir(join(root, name), { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, 'exo.dmg'), '-C', root]);
  await symlink(join(folder, 'model'), join(root, 'models', modelId.replace('/', '--')));
  for (const [name, lines] of Object.entries(toolsOf(at))) {
    await writeFile(join(root, 'bin', name), script(lines));
    await chmod(join(root, 'bin', name), 0o755);
  }
  const addresses = meet.map((port, other) => `10.77.0.${other + 1}:${meshPort} 127.0.0.1:${port}\n`).join('');
  await writeFile(join(root, '.sim/link-table'), `${addresses}127.0.0.1:${apiPort} 127.0.0.1:${api}\n`);
}
