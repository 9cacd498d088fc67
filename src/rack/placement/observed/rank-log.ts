import { given } from '../../../model/given.ts';
import { type RequestPattern, requestFilter } from '../../../node/endpoint/request-lines.ts';
import { below, pathWord, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { placementFolder, rankLog, rankServiceLabel, startFile } from '../../../node/paths/own-paths.ts';
import { quote } from '../../../node/quote.ts';

/** How far a rank has come with its start, as far as that can be seen from outside. */
export interface RankProgress {
  /** Resident memory of its processes. */
  readonly residentBytes: number;
  /** How much it has printed, ever. */
  readonly logBytes: number;
}

/** The command that prints both, as the ssh user: of all processes in the group that launchd made for the rank. */
export const rankProgressCommand = (placement: string, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
f=${pathWord(rankLog(placement))} i=${pathWord(below(placementFolder(placement), 'process'))} p='' z=0
[ ! -r "$i" ] || while IFS= read -r x; do
  case $x in (pid=*) p=\${x#*=} ;; esac
done <"$i"
[ ! -r "$f" ] || z=$(${pathWord(tool.stat)} -f %z "$f")
${pathWord(tool.ps)} -ax -o pgid= -o rss= | ${pathWord(tool.awk)} -v "g=$p" '$1 == g { n += $2 } END { printf "rss=%.0f\\n", n * 1024 }'
printf 'log=%s\\n' "$z"`);

/** Reads what {@link rankProgressCommand} printed; `undefined` when it is anything else. */
export function parseRankProgress(stdout: string): RankProgress | undefined {
  const [, resident = '', log = ''] = /^rss=(\d{1,15})\nlog=(\d{1,15})\n$/.exec(stdout) ?? [];
  return log === '' ? undefined : { residentBytes: Number(resident), logBytes: Number(log) };
}

/** What is wanted of the log of one rank. */
export interface RankReportRequest {
  readonly placement: string;
  /** At most so many lines of its log. */
  readonly lines: number;
  /** Such lines are left out, and others read or shown instead. */
  readonly requestPattern: RequestPattern;
  readonly rootPrefix: string;
}

/** What one rank has said since its last start, and how its process ended. */
interface RankReport {
  /** As launchd prints it: `1`, `78: EX_CONFIG`, `Killed: 9`; absent while it runs, and where launchd does not say. */
  readonly exit?: string;
  /** The last lines of its log since the last start. */
  readonly lines: readonly string[];
}

/** The most that is read of a log: lines of a megabyte are nobody's words. */
const mostBytes = 32_768;

/** The number of the process and how the last one ended, at the first depth. @see src/node/answers/launchd.ts */
const launchdFields =
  '/^(\\t|    )(pid|last exit code|last terminating signal) = / { sub(/^[\\t ]+/, ""); print "@" $0 }';

/**
 * The command that prints how a rank is to launchd, and the end of what it has said since its last start, as the ssh
 * user. It changes nothing, and says nothing where there is nothing.
 */
export const rankReportCommand = ({ placement, lines, requestPattern, rootPrefix }: RankReportRequest): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
${pathWord(tool.launchctl)} print system/${rankServiceLabel(placement)} 2>/dev/null | ${pathWord(tool.awk)} '${launchdFields}'
printf '@log\\n'
f=${pathWord(rankLog(placement))} i=${pathWord(startFile(placement))} o=0
[ -r "$f" ] || exit 0
[ ! -r "$i" ] || while IFS= read -r x; do
  case $x in (log=*) o=\${x#*=} ;; esac
done <"$i"
case $o in ('' | *[!0-9]*) o=0 ;; esac
z=$(${pathWord(tool.stat)} -f %z "$f") || exit 0
[ "$o" -le "$z" ] || o=0
[ $((z - o)) -le ${mostBytes} ] || o=$((z - ${mostBytes}))
[ "$o" -lt "$z" ] || exit 0
${pathWord(tool.tail)} -c "+$((o + 1))" "$f" | ${requestPattern === undefined ? '' : `${requestFilter(requestPattern)} | `}${pathWord(tool.tail)} -n ${lines}
exit 0`);

/** Reads what {@link rankReportCommand} printed; of anything else what can be read. */
export function parseRankReport(stdout: string): RankReport {
  const all = stdout.replace(/\n$/, '').split('\n');
  const at = all.indexOf('@log');
  const fields = new Map(
    all.slice(0, Math.max(0, at)).flatMap((line): readonly [string, string][] => {
      const [, key = '', value = ''] = /^@(pid|last exit code|last terminating signal) = (.*)$/.exec(line) ?? [];
      return key === '' ? [] : [[key, value]];
    }),
  );
  const exit = exitOf(fields);
  return { ...given({ exit }), lines: at < 0 ? [] : all.slice(at + 1) };
}

/** A process that a signal ended leaves no exit code. */
function exitOf(fields: ReadonlyMap<string, string>): string | undefined {
  if (fields.has('pid')) return undefined;
  const code = fields.get('last exit code');
  if (code !== undefined && code !== '(never exited)') return code;
  return fields.get('last terminating signal');
}

/** The command that prints the end of what a rank has printed, as the ssh user, without lines of requests; exit 66 where there is no log. */
export const rankLogCommand = ({ placement, lines, requestPattern, rootPrefix }: RankReportRequest): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(rankLog(placement))}
[ -e "$f" ] || exit 66
${requestPattern === undefined ? '' : filteredEnd(requestPattern, lines)}exec ${pathWord(tool.tail)} -n ${lines} "$f"`);

/** What cannot be read is left to the command behind it, whose exit says so. */
const filteredEnd = (pattern: string, lines: number): string =>
  `if [ -f "$f" ] && [ -r "$f" ]; then
  export R LC_ALL=C
  ${requestFilter(pattern)} <"$f" | ${pathWord(tool.tail)} -n ${lines}
  exit
fi
`;

/** How far a log was read: which file it was, as its node numbers files, and how many of its bytes. */
export interface LogMark {
  readonly file: string;
  readonly bytes: number;
}

/** A log that is read piece by piece; without a mark, its last piece is wanted. */
interface LogWish {
  readonly placement: string;
  readonly mark?: LogMark;
}

/** What was read of a log. */
export type LogPart =
  | {
      readonly kind: 'part';
      readonly placement: string;
      /** The first byte of it, from 0; before the mark of the wish when the log began anew. */
      readonly from: number;
      readonly bytes: Uint8Array;
      /** For the next wish. */
      readonly mark: LogMark;
    }
  /** There is no such file, or this user may not read it. */
  | { readonly kind: 'none' | 'unreadable'; readonly placement: string };

/** The most that one command reads of one log. */
export const mostPartBytes = 262_144;

/**
 * The command that prints of each log what came behind its mark, at most {@link mostPartBytes}, as the ssh user. A log
 * that is another file by now, or shorter than it was, is read from its first byte. Bytes go as base64, so that no line
 * of a rank can look like a head. `%i` is the number of a file, `%z` its size: stat(1).
 */
export const rankLogPartsCommand = (wishes: readonly LogWish[], rootPrefix: string): string =>
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
${wishes.map(partLine).join('\n')}
exit 0`);

const partLine = ({ placement, mark }: LogWish): string =>
  `part ${quote(placement)} ${pathWord(rankLog(placement))} ${mark === undefined ? '- 0' : `${quote(mark.file)} ${mark.bytes}`}`;

/** What {@link rankLogPartsCommand} printed; `undefined` when it is anything else. */
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
