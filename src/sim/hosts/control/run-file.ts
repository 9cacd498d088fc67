import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How one simulated node is reached. */
export interface RunNode {
  /** On 127.0.0.1. */
  readonly port: number;
  /** `ssh-ed25519 AAAA…`: the node's own key, whatever a fault makes it show. */
  readonly hostKey: string;
  /** The key of the sshd before FileVault, where it has one of its own; absent in files of earlier versions. */
  readonly prebootKey?: string;
  /** Absolute folder that stands for `/`: the root prefix. */
  readonly root: string;
  readonly user: string;
}

/** `run.json` in the run's folder: how to reach a simulated fleet, and whose it is. */
export interface RunFile {
  /** Always true; so that nobody takes the file for one of a real fleet. */
  readonly simulated: true;
  readonly pid: number;
  /** When that process was started, as the system writes it; tells it from a later one with the same number. */
  readonly pidStart: string;
  readonly startedAtEpochMs: number;
  readonly runId: string;
  readonly cluster: string;
  readonly clusterFile: string;
  readonly controlSocket: string;
  /** Where the tools of all nodes reach the simulator; absent in files of earlier versions. */
  readonly askSocket?: string;
  readonly userKeyFile: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
}

/** The file of a running fleet, in the folder of the run. */
export const runFileName = 'run.json';

/** The same file after the fleet was stopped: the next one takes its ports. */
export const stoppedFileName = 'stopped.json';

/** Writes the file for its owner only, by a temporary name and a rename. */
export async function writeRunFile(folder: string, run: RunFile): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const temporary = join(folder, `${runFileName}.new`);
  await writeFile(temporary, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, join(folder, runFileName));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function isRunNode(value: unknown): value is RunNode {
  if (!isObject(value)) return false;
  const { port, hostKey, root, user } = value;
  return typeof port === 'number' && [hostKey, root, user].every((one) => typeof one === 'string');
}

function isRunFile(value: unknown): value is RunFile {
  if (!isObject(value)) return false;
  const { pid, startedAtEpochMs, nodes, simulated } = value;
  const texts = ['pidStart', 'runId', 'cluster', 'clusterFile', 'controlSocket', 'userKeyFile'];
  return (
    simulated === true &&
    typeof pid === 'number' &&
    typeof startedAtEpochMs === 'number' &&
    texts.every((name) => typeof value[name] === 'string') &&
    isObject(nodes) &&
    Object.values(nodes).every(isRunNode)
  );
}

/** The run file of this name in a folder, or undefined when there is none or it is not one of ours. */
export async function parseRunFile(folder: string, name: string): Promise<RunFile | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, name), 'utf8'));
    return isRunFile(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
