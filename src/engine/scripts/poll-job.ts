import type { Digest } from '../../model/digest.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { jobFolder } from './launch-job.ts';

/** How a job stands. */
export interface JobPoll {
  /** `gone`: without process and without exit. */
  readonly state: 'absent' | 'running' | 'ended' | 'gone';
  readonly exit?: number;
  /** Bytes. */
  readonly done?: number;
  readonly total?: number;
  /** Why it failed: a slug, and the words of the tool. */
  readonly failure?: { readonly slug: string; readonly text: string };
}

/** The command that looks at one job, as the ssh user; its answer is for {@link parseJobPoll}. */
export const pollJobCommand = (key: Digest, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
k=${key}
d=${pathWord(jobFolder(key))}
line() {
  [ -e "$d/$1" ] || return 0
  IFS= read -r x <"$d/$1"
  printf '%s=%s\\n' "$1" "$x"
}
s=absent p=''
if [ -e "$d/job" ]; then
  s=gone
  [ ! -e "$d/pid" ] || IFS= read -r p <"$d/pid"
  case $p in ('' | *[!0-9]*) ;; (*)
    case $(${pathWord(tool.ps)} -ww -o command= -p "$p") in (*"/$k/run"*) s=running ;; esac
  ;; esac
  [ ! -e "$d/rc" ] || s=ended
fi
printf 'state=%s\\n' "$s"
line progress
line rc
line failure
printf 'end\\n'`);

/** Reads the answer of {@link pollJobCommand}; `undefined` when it is not whole or not in its form. */
export function parseJobPoll(stdout: string): JobPoll | undefined {
  const lines = stdout.split('\n');
  if (lines.at(-1) !== '' || lines.at(-2) !== 'end') return undefined;
  const fields = new Map(lines.slice(0, -2).map((line) => fieldOf(line)));
  const state = states.find((one) => one === fields.get('state'));
  const [, done, total] = /^(\d{1,16}) (\d{1,16})$/.exec(fields.get('progress') ?? '') ?? [];
  const [, slug, text = ''] = /^([a-z][a-z0-9-]{0,63}) (.*)$/.exec(fields.get('failure') ?? '') ?? [];
  const exit = /^\d{1,3}$/.exec(fields.get('rc') ?? '')?.[0];
  if (state === undefined || (state === 'ended' && exit === undefined)) return undefined;
  return {
    state,
    ...(done === undefined ? {} : { done: Number(done), total: Number(total) }),
    ...(exit === undefined ? {} : { exit: Number(exit) }),
    ...(slug === undefined ? {} : { failure: { slug, text } }),
  };
}

const states = ['absent', 'running', 'ended', 'gone'] as const;

function fieldOf(line: string): readonly [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
}
