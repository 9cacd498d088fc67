import { pathWord, rootLine, shellCommand, tool } from './node-paths.ts';
import { rankLog } from './rank-paths.ts';

/** Which part of a rank's log is wanted. */
export interface LogRequest {
  readonly placement: string;
  readonly lines: number;
  /** Whether lines that are still to come are wanted as well. */
  readonly isFollowed: boolean;
  readonly rootPrefix: string;
}

/** The command that prints the end of what a rank has printed, as the ssh user; exit 66 where there is no log. */
export const rankLogCommand = ({ placement, lines, isFollowed, rootPrefix }: LogRequest): string =>
  shellCommand(`${rootLine(rootPrefix)}
f=${pathWord(rankLog(placement))}
[ -e "$f" ] || exit 66
exec ${pathWord(tool.tail)} -n ${lines}${isFollowed ? ' -F' : ''} "$f"`);
