import type { NodePath } from '../model/node-path.ts';
import { pathWord, rootLine, shellCommand, tool } from './node-paths.ts';
import { quote } from './quote.ts';

/** One rank of somebody's own program. */
export interface LaunchedRank {
  readonly rootPrefix: string;
  /** The folder of the run on this node; made here, and taken away at the end. */
  readonly folder: NodePath;
  readonly files: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** The program and its words. */
  readonly words: readonly string[];
}

/** Variables by which a group of another program would be found. */
const foreign =
  'MLX_RANK MLX_HOSTFILE MLX_IBV_DEVICES MLX_JACCL_COORDINATOR MLX_JACCL_RING JACCL_RANK JACCL_IBV_DEVICES JACCL_COORDINATOR';

/** The exit of a rank whose folder could not be made, as sysexits(3) has it. */
const cannotCreate = 73;

/**
 * The command that runs a rank as the ssh user and ends as it ends. It lives as long as its standard input is open:
 * when that ends, because somebody wants it to or because the connection is gone, the rank and all that it has started
 * are asked to end, and ten seconds later they are ended.
 */
export function launchRankCommand({ rootPrefix, folder, files, environment, words }: LaunchedRank): string {
  const d = pathWord(folder);
  const written = Object.entries(files).map(([name, text]) => `printf '%s' ${quote(text)} >${d}/${quote(name)}`);
  const set = Object.entries(environment).map(([name, value]) => `${name}=${quote(value)} && export ${name}`);
  return shellCommand(`${rootLine(rootPrefix)}
export R
unset ${foreign}
umask 077
${pathWord(tool.mkdir)} ${d} || exit ${cannotCreate}
trap '' HUP PIPE
${[...written, ...set].join(' &&\n')} || exit ${cannotCreate}
family() {
  ${pathWord(tool.ps)} -ax -o pid= -o ppid= 2>/dev/null | ${pathWord(tool.awk)} -v top="$p" '{ parent[$1] = $2 }
END { for (one in parent) { up = one; n = 0; while (up in parent && n++ < 64) { up = parent[up]; if (up == top) { print one; break } } } }'
}
alive() {
  for q in $f; do
    kill -0 "$q" && return
  done
  return 1
}
exec 3<&0 </dev/null
(trap - HUP PIPE; exec 3<&-; exec ${words.map(quote).join(' ')}) &
p=$!
{
  while IFS= read -r x <&3; do :; done
  true >${d}/ending
  # What stands still starts nothing more: then the family is whole, and nobody is forgotten.
  f=$p k=0 n=0
  while [ "$n" -lt 20 ]; do
    kill -STOP $f
    f="$p $(family)"
    set -- $f
    [ "$#" -ne "$k" ] || break
    k=$# n=$((n + 1))
  done
  kill -TERM $f
  kill -CONT $f
  n=0
  while alive && [ "$n" -lt 40 ]; do
    ${pathWord(tool.sleep)} 0.25
    n=$((n + 1))
  done
  kill -KILL $f
} >/dev/null 2>&1 &
w=$!
exec 3<&-
wait "$p"
c=$?
# What the rank has started itself may outlive it for a moment.
if [ -e ${d}/ending ]; then wait "$w"; else kill -KILL "$w" 2>/dev/null; fi
${pathWord(tool.rm)} -rf ${d}
exit "$c"`);
}
