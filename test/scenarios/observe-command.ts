import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simFolder } from '../../src/cli/files/places.ts';
import { type RunNode, writeRunFile } from '../../src/sim/hosts/control/run-folder.ts';
import { processStart } from '../../src/sim/hosts/processes.ts';
import { root } from '../architecture/sources.ts';
import { exampleFile } from './observe-rack.ts';

const entry = join(root, 'dist/cli/main.js');
const longestMs = 120_000;

/** The output and the exit code of the command. */
export interface Printed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The peak memory of the process, in bytes. */
  readonly peakBytes: number;
}

/** The real command, with a separate state folder that refers to a running simulated fleet. */
export interface CommandPlace {
  readonly folder: string;
  /** `meshwright --sim -f test/rack/reference.yaml WORDS`. */
  readonly run: (...words: readonly string[]) => Promise<Printed>;
  readonly remove: () => Promise<void>;
}

/** Makes `--sim` connect to these addresses for the nodes of the example file. */
export async function commandPlace(
  nodes: Readonly<Record<string, RunNode>>,
  userKeyFile: string,
): Promise<CommandPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-command-'));
  const env = { PATH: '/usr/bin:/bin', HOME: folder, LC_ALL: 'C.UTF-8', MESHWRIGHT_STATE: join(folder, 'state') };
  await writeRunFile(simFolder(env, exampleFile), {
    simulated: true,
    pid: process.pid,
    pidStart: (await processStart(process.pid)) ?? '',
    startedAtEpochMs: Date.now(),
    runId: 'hostile',
    cluster: 'studio-rack',
    clusterFile: exampleFile,
    controlSocket: join(folder, 'control'),
    userKeyFile,
    nodes,
  });
  return {
    folder,
    run: (...words) => run(['--sim', '-f', exampleFile, ...words], folder, env),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs in the measured process and reports its peak memory over an extra pipe, so that the streams are unchanged. */
const memoryReport = `data:text/javascript,${encodeURIComponent(
  "import { writeSync } from 'node:fs'; process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)));",
)}`;

function gather(child: ChildProcess, index: number): () => string {
  const pieces: Buffer[] = [];
  child.stdio[index]?.on('data', (piece: Buffer) => pieces.push(piece));
  return () => Buffer.concat(pieces).toString('utf8');
}

function run(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Printed> {
  const child = spawn(process.execPath, ['--import', memoryReport, entry, ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: longestMs,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, memory] = [gather(child, 1), gather(child, 2), gather(child, 3)];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout: stdout(), stderr: stderr(), peakBytes: Number(memory()) * 1024 });
    });
  });
}
