import { type RequestPattern, requestFilter } from '../../../node/endpoint/request-lines.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { rankLog } from '../../../node/paths/own-paths.ts';
import { quote } from '../../../node/quote.ts';

/** Which part of a rank's log is wanted. */
export interface LogRequest {
  readonly placement: string;
  readonly lines: number;
  /** Such lines are left out, and others shown instead. */
  readonly requestPattern: RequestPattern;
  readonly rootPrefix: string;
}

/** The command that prints the end of what a rank has printed, as the ssh user, without lines of requests; exit 66 where there is no log. */
export const rankLogCommand = ({ placement, lines, requestPattern, rootPrefix }: LogRequest): string =>
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
export interface LogWish {
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
