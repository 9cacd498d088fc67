import { type Exit, exitText } from '../model/probe.ts';
import { leaseLostExit } from './root-script.ts';
import { classifySudo } from './sudo-answer.ts';

/** What is left of a command on a node: how it ended and what it printed, as text. */
export interface ScriptEnd {
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a mutating script ended. */
export type ScriptResult =
  /** `said` are the lines before the verdict, such as `ended=clean`. */
  | { readonly kind: 'done'; readonly isChanged: boolean; readonly said: readonly string[] }
  /** The lease is not held by this run and token; nothing was changed. */
  | { readonly kind: 'lease-lost' }
  /** `slug` is one of a closed list of words by script, `text` the words of the tool that failed. */
  | { readonly kind: 'failed'; readonly slug: string; readonly text: string }
  /** Neither success nor failure: only a fresh observation tells. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Reads the end of a mutating script. An exit of 0 without a verdict is believed as little as a lost connection. */
export function readScriptResult({ exit, stdout, stderr }: ScriptEnd): ScriptResult {
  if (exit.kind !== 'exited') return { kind: 'unknown', reason: exitText(exit) };
  if (exit.code === leaseLostExit) return { kind: 'lease-lost' };
  const failure = lastFailure(stderr);
  if (exit.code === 0) {
    const said = stdout.split('\n').filter((line) => line !== '');
    const verdict = said.at(-1);
    if (verdict !== '@changed' && verdict !== '@unchanged') {
      return { kind: 'unknown', reason: 'it ended with 0 and without a verdict' };
    }
    return { kind: 'done', isChanged: verdict === '@changed', said: said.slice(0, -1) };
  }
  if (failure !== undefined) return { kind: 'failed', ...failure };
  const sudo = classifySudo(exit, stderr);
  if (sudo !== 'other' && sudo !== 'allowed') return { kind: 'failed', slug: `sudo-${sudo}`, text: firstLine(stderr) };
  return { kind: 'failed', slug: 'unexpected-exit', text: `${exitText(exit)}: ${firstLine(stderr)}` };
}

function lastFailure(stderr: string): { readonly slug: string; readonly text: string } | undefined {
  const last = [...stderr.matchAll(/^@failed ([a-z][a-z0-9-]{0,63}) (.*)$/gm)].at(-1);
  return last === undefined ? undefined : { slug: last[1] ?? '', text: last[2] ?? '' };
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? 'without a word';

/** Whether a tool on a node failed because its disk is full: the words of ENOSPC in the C locale. */
export const saysDiskFull = (stderr: string): boolean => stderr.includes('No space left on device');
