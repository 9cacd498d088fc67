import { exitKeys, lastExitOf, neverExited } from '../../../model/facts/daemons.ts';
import { given } from '../../../model/given.ts';
import { accessLines, answerLines, type RequestPattern, requestFilter } from '../../../node/endpoint/request-lines.ts';
import { below, pathWord, place, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { placementFolder, rankLog, rankServiceLabel, startFile } from '../../../node/paths/own-paths.ts';
import { quote } from '../../../node/quote.ts';
import { rootScript } from '../../../node/root-script.ts';

/** The progress of a rank's start, as far as it is visible from outside the process. */
export interface RankProgress {
  /** The resident memory of its processes. */
  readonly residentBytes: number;
  /** The size of its log since the start, without the lines that requests cause. */
  readonly logBytes: number;
}

/** Shell text: `f` is the rank's log, `o` the offset at which its last start begins, `z` the log's size. */
const logSinceStart = (placement: string): string =>
  `f=${pathWord(rankLog(placement))} i=${pathWord(startFile(placement))} o=0 z=0
[ ! -r "$i" ] || while IFS= read -r x; do
  case $x in (log=*) o=\${x#*=} ;; esac
done <"$i"
case $o in ('' | *[!0-9]*) o=0 ;; esac
[ ! -r "$f" ] || z=$(${pathWord(tool.stat)} -f %z "$f") || z=0
[ "$o" -le "$z" ] || o=0`;

/**
 * The command that prints both values as the SSH user. The memory is that of all processes in the process group that
 * launchd made for the rank.
 */
export const rankProgressCommand = (placement: string, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
${logSinceStart(placement)}
n=0 p='' i=${pathWord(below(placementFolder(placement), 'process'))}
[ ! -r "$i" ] || while IFS= read -r x; do
  case $x in (pid=*) p=\${x#*=} ;; esac
done <"$i"
[ "$o" -ge "$z" ] || n=$(${pathWord(tool.tail)} -c "+$((o + 1))" "$f" | ${requestFilter(answerLines, undefined)} | ${pathWord(tool.wc)} -c)
${pathWord(tool.ps)} -ax -o pgid= -o rss= | ${pathWord(tool.awk)} -v "g=$p" '$1 == g { n += $2 } END { printf "rss=%.0f\\n", n * 1024 }'
printf 'log=%s\\n' "$((n))"`);

export function parseRankProgress(stdout: string): RankProgress | undefined {
  const [, resident = '', log = ''] = /^rss=(\d{1,15})\nlog=(\d{1,15})\n$/.exec(stdout) ?? [];
  return log === '' ? undefined : { residentBytes: Number(resident), logBytes: Number(log) };
}

export interface RankReportRequest {
  readonly placement: string;
  readonly lines: number;
  /** Log lines of HTTP requests, which are skipped. */
  readonly requestPattern: RequestPattern;
  readonly rootPrefix: string;
}

/** The maximum number of bytes read from a log: a line of a megabyte is not a message. */
const mostBytes = 32_768;

/**
 * The process ID and the exit of the last process, at the first level of indentation only.
 * @see src/node/answers/launchd.ts
 */
const launchdFields = `/^(\\t|    )(pid|${exitKeys.join('|')}) = / { sub(/^[\\t ]+/, ""); print "@" $0 }`;

/**
 * The command that prints, as the SSH user, launchd's state of a rank and the rank's last log lines since its last
 * start. It changes nothing, and a missing rank or log is not an error.
 */
export function rankReportCommand({ placement, lines, requestPattern, rootPrefix }: RankReportRequest): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
${pathWord(tool.launchctl)} print system/${rankServiceLabel(placement)} 2>/dev/null | ${pathWord(tool.awk)} '${launchdFields}'
printf '@log\\n'
${logSinceStart(placement)}
[ $((z - o)) -le ${mostBytes} ] || o=$((z - ${mostBytes}))
[ "$o" -lt "$z" ] || exit 0
${pathWord(tool.tail)} -c "+$((o + 1))" "$f" | ${requestFilter(accessLines, requestPattern)} | ${pathWord(tool.tail)} -n ${lines}
exit 0`);
}

/** Parses the output of {@link rankReportCommand}, or as much of it as is valid. */
export function parseRankReport(stdout: string) {
  const all = stdout.replace(/\n$/, '').split('\n');
  const at = all.indexOf('@log');
  const fields = new Map(
    all.slice(0, Math.max(0, at)).flatMap((line): readonly [string, string][] => {
      const [, key = '', value = ''] = /^@([a-z ]+) = (.*)$/.exec(line) ?? [];
      return key === '' ? [] : [[key, value]];
    }),
  );
  const exit = lastExitOf(fields);
  const isOver = !fields.has('pid') && exit !== neverExited;
  return { ...(isOver && given({ exit })), lines: at < 0 ? [] : all.slice(at + 1) };
}

/** Prints a rank's last log lines without HTTP requests, as the SSH user; exit 66 if there is no log. */
export const rankLogCommand = ({ placement, lines, requestPattern, rootPrefix }: RankReportRequest): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(rankLog(placement))}
[ -e "$f" ] || exit 66
${requestPattern === undefined ? '' : filteredEnd(requestPattern, lines)}exec ${pathWord(tool.tail)} -n ${lines} "$f"`);

/** An unreadable log falls through to the `tail` after it, whose exit code reports it. */
const filteredEnd = (pattern: string, lines: number): string =>
  `if [ -f "$f" ] && [ -r "$f" ]; then
  export R LC_ALL=C
  ${requestFilter(pattern, pattern)} <"$f" | ${pathWord(tool.tail)} -n ${lines}
  exit
fi
`;

/**
 * Samples the stacks of a hung rank for one second, or gives up after ten. Changes nothing, but runs as root, because
 * ranks run as another account. Samples the largest process of the group that launchd made for the rank. Exit 66: no
 * process is left. sample(1): `sample pid duration -file filename`
 */
export const rankStackScript = (pid: number, rootPrefix: string): string =>
  rootScript(
    rootPrefix,
    `d=$(${pathWord(tool.mktemp)} -d ${pathWord(below(place.temporary, 'meshwright.XXXXXX'))}) || exit
trap '${pathWord(tool.rm)} -rf "$d"' EXIT
p=$(${pathWord(tool.ps)} -ax -o pid= -o pgid= -o rss= | ${pathWord(tool.awk)} -v g=${pid} '$2 == g && $3 >= m { m = $3; p = $1 } END { print p }')
[ -n "$p" ] || exit 66
${pathWord(tool.sample)} "$p" 1 -file "$d/stack" >/dev/null 2>"$d/why" &
q=$! n=0
while kill -s 0 "$q" 2>/dev/null && [ "$n" -lt 40 ]; do
  n=$((n + 1))
  ${pathWord(tool.sleep)} 0.25
done
kill -s KILL "$q" 2>/dev/null
wait "$q" 2>/dev/null
[ -s "$d/stack" ] || {
  ${pathWord(tool.head)} -c 400 "$d/why" >&2
  exit 1
}
${pathWord(tool.head)} -c 131072 "$d/stack"
exit 0`,
  );

/** The position up to which a log was read: its inode number on the node, and the bytes read so far. */
export interface LogMark {
  readonly file: string;
  readonly bytes: number;
}

/** A log to read part by part. Without a mark, its last part is read. */
interface LogRequest {
  readonly placement: string;
  readonly mark?: LogMark;
}

export type LogPart =
  | {
      readonly kind: 'part';
      readonly placement: string;
      /** The offset of the first byte; before the requested mark if the log was replaced or truncated. */
      readonly from: number;
      readonly bytes: Uint8Array;
      /** For the next request. */
      readonly mark: LogMark;
    }
  /** The file does not exist, or this user may not read it. */
  | { readonly kind: 'none' | 'unreadable'; readonly placement: string };

export const mostPartBytes = 262_144;

/**
 * The command that prints the next part of each log after its mark, at most {@link mostPartBytes}, as the SSH user. A
 * log that was replaced or truncated is read from its first byte. Parts are base64, so that no log line can look like a
 * header. stat(1): `%i` is the inode number, `%z` the size.
 */
export const rankLogPartsCommand = (requests: readonly LogRequest[], rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
m=${mostPartBytes}
part() {
  [ -e "$2" ] || { printf '@log %s none\\n' "$1"; return; }
  s=
  [ ! -f "$2" ] || [ ! -r "$2" ] || s=$(${pathWord(tool.stat)} -f '%i %z' "$2" 2>/dev/null)
  case $s in
    ([0-9]*\\ [0-9]*) ;;
    (*) printf '@log %s unreadable\\n' "$1"; return ;;
  esac
  i=\${s%% *} z=\${s#* } o=$4
  if [ "$3" = - ]; then
    o=$((z > m ? z - m : 0))
  elif [ "$i" != "$3" ] || [ "$z" -lt "$o" ]; then
    o=0
  fi
  n=$((z - o > m ? m : z - o))
  printf '@log %s %s %s\\n' "$1" "$i" "$o"
  [ "$n" -gt 0 ] || return
  ${pathWord(tool.tail)} -c "+$((o + 1))" "$2" | ${pathWord(tool.head)} -c "$n" | ${pathWord(tool.base64)}
  printf '\\n'
}
${requests.map(partLine).join('\n')}
exit 0`);

const partLine = ({ placement, mark }: LogRequest): string =>
  `part ${quote(placement)} ${pathWord(rankLog(placement))} ${mark === undefined ? '- 0' : `${quote(mark.file)} ${mark.bytes}`}`;

export function parseLogParts(stdout: string): readonly LogPart[] | undefined {
  if (stdout !== '' && !stdout.startsWith('@log ')) return undefined;
  const parts = stdout
    .split(/^@log /m)
    .slice(1)
    .map(partOf);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

function partOf(text: string): LogPart | undefined {
  const [head = '', ...lines] = text.split('\n');
  const body = lines.join('');
  const [, nowhere = '', why = ''] = /^(\S{1,255}) (none|unreadable)$/.exec(head) ?? [];
  if (nowhere !== '' && body === '') return { kind: why === 'none' ? 'none' : 'unreadable', placement: nowhere };
  const [, placement = '', file = '', from = ''] = /^(\S{1,255}) (\d{1,20}) (\d{1,15})$/.exec(head) ?? [];
  if (placement === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined;
  const bytes = Buffer.from(body, 'base64');
  return { kind: 'part', placement, from: Number(from), bytes, mark: { file, bytes: Number(from) + bytes.length } };
}
