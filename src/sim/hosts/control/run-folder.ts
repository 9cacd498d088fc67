import { chmod, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonObject } from '../../../model/digest.ts';
import { isSameProcess, sweepMarked } from '../processes.ts';
import { replaceFile } from '../replace-file.ts';
import { askControl, parseObject, removeSocket } from './control.ts';

/** The data needed to reach one simulated node. */
export interface RunNode {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** `ssh-ed25519 AAAA…`: the node's own key, even if a fault makes the node show a different key. */
  readonly hostKey: string;
  /** The key of the sshd before FileVault, if it has its own; absent in files of earlier versions. */
  readonly prebootKey?: string;
  /** Absolute path of the folder that represents `/`: the root prefix. */
  readonly root: string;
  readonly user: string;
}

/** The servers of a rehearsal that stand in for the internet. */
export interface SimulatedWeb {
  /** A mirror: `ORIGIN/huggingface.co/path` is `https://huggingface.co/path`. */
  readonly origin: string;
  /** Absolute path of the certificate that clients trust, as PEM. */
  readonly caFile: string;
}

/** `run.json` in the run's folder: how to reach a simulated fleet, and which process owns it. */
export interface RunFile {
  /** Always true, so that the file cannot be mistaken for one of a real fleet. */
  readonly simulated: true;
  readonly pid: number;
  /** The process's start as the system prints it, which tells it from a later one with the same number. */
  readonly pidStart: string;
  readonly startedAtEpochMs: number;
  readonly runId: string;
  readonly cluster: string;
  readonly clusterFile: string;
  readonly controlSocket: string;
  /** The socket for the tools of all nodes; absent in files of earlier versions. */
  readonly askSocket?: string;
  readonly userKeyFile: string;
  /** Absent in files of earlier versions. */
  readonly web?: SimulatedWeb;
  readonly nodes: Readonly<Record<string, RunNode>>;
  /** Ports on 127.0.0.1 that lead to the nodes' endpoints, by endpoint: `studio-1:8080`. Absent until one is needed. */
  readonly addresses?: Readonly<Record<string, number>>;
}

export const runFileName = 'run.json';

/** The same file after the fleet was stopped. The next fleet uses the same ports. */
export const stoppedFileName = 'stopped.json';

/** Writes the file, readable only by its owner, through a temporary file and a rename. */
export async function writeRunFile(folder: string, run: RunFile): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await replaceFile(join(folder, runFileName), `${JSON.stringify(run, null, 2)}\n`, 0o600);
}

function isRunNode(value: unknown): value is RunNode {
  const { port, hostKey, root, user } = jsonObject(value) ?? {};
  return typeof port === 'number' && [hostKey, root, user].every((one) => typeof one === 'string');
}

function isRunFile(value: unknown): value is RunFile {
  const fields = jsonObject(value) ?? {};
  const { pid, startedAtEpochMs, simulated } = fields;
  const nodes = jsonObject(fields['nodes']);
  const texts = ['pidStart', 'runId', 'cluster', 'clusterFile', 'controlSocket', 'userKeyFile'];
  return (
    simulated === true &&
    typeof pid === 'number' &&
    typeof startedAtEpochMs === 'number' &&
    texts.every((name) => typeof fields[name] === 'string') &&
    nodes !== undefined &&
    Object.values(nodes).every(isRunNode)
  );
}

/** Reads the run file with this name in a folder; undefined if it is missing or invalid. */
export async function parseRunFile(folder: string, name: string): Promise<RunFile | undefined> {
  const value = parseObject(await readFile(join(folder, name), 'utf8').catch(() => ''));
  return isRunFile(value) ? value : undefined;
}

const stateName = 'state.json';

/** Reads the fleet state that an earlier simulator saved in this folder; undefined if there is none. */
export const readSavedState = (folder: string): Promise<string | undefined> =>
  readFile(join(folder, stateName), 'utf8').catch(() => undefined);

/** Saves the state for the folder's next simulator, through a temporary file and a rename. */
export const saveState = (folder: string, text: string): Promise<void> =>
  replaceFile(join(folder, stateName), text, 0o600);

/** Deletes the state, so that the folder's next simulator starts with new Macs. */
export const forgetState = (folder: string): Promise<void> => rm(join(folder, stateName), { force: true });

/** The state of a run's folder: empty, or a fleet that answers, does not answer, or has crashed. */
type RunState = { readonly kind: 'none' } | { readonly kind: 'live' | 'silent' | 'dead'; readonly run: RunFile };

const answerMs = 5_000;

/** Distinguishes a running simulated fleet from a crashed one by its PID, start time and answer. */
export async function readRun(folder: string): Promise<RunState> {
  const run = await parseRunFile(folder, runFileName);
  if (run === undefined) return { kind: 'none' };
  if (!(await isSameProcess(run.pid, run.pidStart))) return { kind: 'dead', run };
  const answer = await askControl(run.controlSocket, { ask: 'status' }, answerMs);
  return { kind: answer === undefined ? 'silent' : 'live', run };
}

/** The servers that stand in for the internet in this folder's rehearsal; undefined if no simulated fleet runs. */
export async function simulatedWeb(folder: string): Promise<SimulatedWeb | undefined> {
  const state = await readRun(folder);
  return state.kind === 'live' ? state.run.web : undefined;
}

/** Removes the remains of a run whose process has exited, and returns how many node processes were still running. */
export async function cleanRun(folder: string, run: RunFile): Promise<number> {
  const swept = await sweepMarked(run.runId);
  await removeSocket(run.controlSocket);
  if (run.askSocket !== undefined) await removeSocket(run.askSocket);
  await rename(join(folder, runFileName), join(folder, stoppedFileName)).catch(() => undefined);
  return swept;
}
