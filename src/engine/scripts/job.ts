import { type Digest, shortDigest } from '../../model/digest.ts';
import type { JobCall } from '../../model/node-script.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { jobFolder, stagedTree, treeFolder, verifiedMark } from '../../node/paths/own-paths.ts';
import { quote } from '../../node/quote.ts';
import { sh as shared } from '../../node/shell/scripts.generated.ts';
import { sh } from '../../rack/artifacts/scripts.generated.ts';
import { jobBody } from './registry.ts';

/**
 * The prologue of every job. `d` is the folder that contains the job's file `run`. A job ends only through
 * `failed SLUG TEXT` or `end EXIT`, which write the exit status atomically by a rename. `progress DONE TOTAL` counts
 * bytes. The first line links `pid` to the PID, which fails if a second copy runs.
 */
const jobPrologue = `export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
trap '' HUP PIPE
d=\${0%/run}
case $d in (/*) ;; (*) exit 1 ;; esac
N='
'
put() {
  printf '%s\\n' "$2" >"$d/$1.$$" && ${pathWord(tool.mv)} -f "$d/$1.$$" "$d/$1"
}
end() {
  put rc "$1"
  exit "$1"
}
failed() {
  m=$1
  case $2 in (*'No space left on device'*) m=disk-full ;; esac
  put failure "$m \${2%%"$N"*}"
  end 1
}
${shared.must({})}
progress() {
  put progress "$1 $2"
}
printf '%s\\n' "$$" >"$d/pid.$$" && ${pathWord(tool.ln)} "$d/pid.$$" "$d/pid" 2>/dev/null
x=$?
${pathWord(tool.rm)} -f "$d/pid.$$"
[ "$x" -eq 0 ] || exit 0`;

/** A job's state. */
export interface JobPoll {
  /** `gone`: neither a process nor an exit status. */
  readonly state: 'absent' | 'running' | 'ended' | 'gone';
  readonly exit?: number;
  /** Bytes. */
  readonly done?: number;
  readonly total?: number;
  /** The failure as a slug, with the tool's message. */
  readonly failure?: { readonly slug: string; readonly text: string };
}

/** Polls one job as the SSH user; {@link parseJobPoll} parses the answer. */
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

/** Parses the answer of {@link pollJobCommand}; `undefined` if incomplete or malformed. */
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

/** The text of a job's file `run` on the node. */
export const jobText = (call: JobCall): string => `${jobPrologue}
${jobBody(call)}
end 0
`;

/** Time limit for a job's first line, in tenths of a second. */
const startTenths = 100;

/**
 * Starts a job that survives the connection, unless it is running or its result exists, verified or published. Prints
 * `job=attached`, `job=done` or `job=started`. Restarts a job that failed, died or lost its staging folder; the job
 * resumes with the existing files. The process is detached from the connection: no terminal, no shared stream, HUP
 * ignored.
 */
export function launchBody(key: Digest, call: JobCall): string {
  const { tree } = call.args;
  const mark = pathWord(verifiedMark(tree));
  const folder = pathWord(jobFolder(key));
  return `${sh.sealedTree({})}
${shared.jobFolders({})}
d=${folder}
isdone() {
  intact ${pathWord(treeFolder(tree))} ${tree.digest} && return
  x=''
  [ -d ${pathWord(stagedTree(tree))} ] && [ -e ${mark} ] && IFS= read -r x <${mark}
  [ "$x" = ${tree.digest} ]
}
if isrunning "$d" && [ ! -e "$d/rc" ]; then
  printf 'job=attached\\n'
  unchanged
fi
if isdone; then
  printf 'job=done\\n'
  unchanged
fi
must mkdir ${pathWord(tool.mkdir)} -p "$d"
stale() {
  q=''
  IFS= read -r q <"$1"
  [ "$p" = "$q" ] || failed other-launch 'somebody else has launched this job'
}
if [ -e "$d/pid" ]; then
  stale "$d/pid"
  ${pathWord(tool.mv)} -f "$d/pid" "$d/old.$$"
  (stale "$d/old.$$") || {
    ${pathWord(tool.ln)} "$d/old.$$" "$d/pid"
    exit 1
  }
fi
${pathWord(tool.rm)} -f "$d/old.$$" "$d/rc" "$d/failure" "$d/progress"
write "$d/job" "name=${call.name}\${N}tree=${tree.kind} ${tree.name} ${shortDigest(tree.digest)}\${N}boot=$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)$N"
write "$d/run" ${quote(jobText(call))}
(
  trap '' HUP
  exec ${pathWord(tool.sh)} "$d/run"
) </dev/null >"$d/out" 2>"$d/err" &
n=0
until [ -e "$d/pid" ] || [ -e "$d/rc" ]; do
  n=$((n + 1))
  [ "$n" -lt ${startTenths} ] || failed not-started "$(${pathWord(tool.head)} -n 1 "$d/err")"
  ${pathWord(tool.sleep)} 0.1
done
printf 'job=started\\n'
changed`;
}
