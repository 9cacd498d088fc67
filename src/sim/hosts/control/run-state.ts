import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepMarked } from '../process/lifeline.ts';
import { isSameProcess } from '../process/process-identity.ts';
import { askControl, removeSocket } from './control.ts';
import { parseRunFile, type RunFile, runFileName, stoppedFileName } from './run-file.ts';

/** What a run's folder says: nothing, a fleet that answers, one that lives and does not answer, one that crashed. */
export type RunState =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly run: RunFile }
  | { readonly kind: 'silent'; readonly run: RunFile }
  | { readonly kind: 'dead'; readonly run: RunFile };

const answerMs = 5_000;

/** Tells a running simulated fleet from what a crashed one left: by process number, process start and an answer. */
export async function readRun(folder: string): Promise<RunState> {
  const run = await parseRunFile(folder, runFileName);
  if (run === undefined) return { kind: 'none' };
  if (!(await isSameProcess(run.pid, run.pidStart))) return { kind: 'dead', run };
  const answer = await askControl(run.controlSocket, { ask: 'status' }, answerMs);
  return answer === undefined ? { kind: 'silent', run } : { kind: 'live', run };
}

/** Takes away what is left of a run whose process has ended, and returns how many processes were still there. */
export async function cleanRun(folder: string, run: RunFile): Promise<number> {
  const swept = await sweepMarked(run.runId);
  await removeSocket(run.controlSocket);
  if (run.askSocket !== undefined) await removeSocket(run.askSocket);
  await rename(join(folder, runFileName), join(folder, stoppedFileName)).catch(() => undefined);
  return swept;
}
