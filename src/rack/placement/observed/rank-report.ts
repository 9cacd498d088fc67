import { type RequestPattern, requestFilter } from '../../../node/endpoint/request-lines.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { rankLog, rankServiceLabel, startFile } from '../../../node/paths/own-paths.ts';

/** What is wanted of one rank. */
export interface RankReportRequest {
  readonly placement: string;
  /** At most so many lines of its log. */
  readonly lines: number;
  /** Such lines are left out, and others read instead. */
  readonly requestPattern: RequestPattern;
  readonly rootPrefix: string;
}

/** What one rank has said since its last start, and how its process ended. */
export interface RankReport {
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
  return { ...(exit === undefined ? {} : { exit }), lines: at < 0 ? [] : all.slice(at + 1) };
}

/** A process that a signal ended leaves no exit code. */
function exitOf(fields: ReadonlyMap<string, string>): string | undefined {
  if (fields.has('pid')) return undefined;
  const code = fields.get('last exit code');
  if (code !== undefined && code !== '(never exited)') return code;
  return fields.get('last terminating signal');
}
