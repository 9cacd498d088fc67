import { below, pathWord, rootLine, shellCommand, tool } from '../../../node/paths/node-paths.ts';
import { placementFolder, rankLog } from '../../../node/paths/own-paths.ts';

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
