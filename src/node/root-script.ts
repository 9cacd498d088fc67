import { pathWord, place, renderPath, rootLine, tool } from './paths/node-paths.ts';
import { quote } from './quote.ts';
import { sh } from './shell/scripts.generated.ts';

/** The right of one run to change a node: the run and the token under which it holds the lease there. */
export interface Fence {
  readonly run: string;
  readonly token: number;
}

/** In the folder of a lease: what a script that runs under it is called there; its process number comes last. */
export const busyPrefix = 'busy.';

/** The same in the folder of meshwright. */
export const busyMark = `lease/${busyPrefix}`;

/**
 * `isscript MARK` says whether the script that left this mark still runs. The process number of a mark that was left
 * behind may belong to another program by now, such as `ssh -s`.
 */
export const isScript = `isscript() {
  case \${1##*.} in ('' | *[!0-9]*) return 1 ;; esac
  case $(${pathWord(tool.ps)} -ww -o command= -p "\${1##*.}" 2>/dev/null) in ('sh -s' | */sh' -s') return 0 ;; esac
  return 1
}`;

/** The exit of a script whose run does not hold the lease (any more). Nothing was changed. */
export const leaseLostExit = 75;

/**
 * The command line for an exec request that becomes root and reads a script from standard input: the one form in
 * which root is asked for, so that sudoers can allow exactly this.
 */
export function mutatingCommand(rootPrefix: string): string {
  const [sudo, sh] = [tool.sudo, tool.sh].map((path) => quote(renderPath(path, rootPrefix)));
  return `export LC_ALL=C; exec ${sudo} -n ${sh} -s`;
}

const rootPrologue = (rootPrefix: string): string => `${rootLine(rootPrefix)}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
b=${pathWord(place.ours)}
${sh.write({})}
trap '' HUP PIPE`;

/**
 * A whole script that runs as root. All of it stands in one pair of braces, so that a script of which only a part
 * arrives does nothing; the tools in it do not read its text; the end of the connection does not stop it half way.
 */
export const rootScript = (rootPrefix: string, body: string): string => `{
${rootPrologue(rootPrefix)}
${body}
} </dev/null
`;
