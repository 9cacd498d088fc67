import type { ScriptArgs } from '../../model/node-script.ts';
import { doormanEndSeconds, serviceFunctions } from '../../node/launchd-service.ts';
import { below, nodePath, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { sh } from '../../node/shell/scripts.generated.ts';

/** @throws Error when it is none of ours, which is our own value: its service is unloaded and its file deleted */
function ownLabel(label: string): string {
  if (!/^dev\.meshwright\.[A-Za-z0-9._-]{1,200}$/.test(label)) throw new Error('no service of ours');
  return label;
}

const serviceLines = (label: string): string => {
  const plist = pathWord(nodePath(`${place.launchDaemons.path as `/${string}`}/${ownLabel(label)}.plist`));
  return `L=system/${label}
if look; then
  bootout
  y=1
fi
[ ! -e ${plist} ] || gone ${plist}`;
};

// No variable stands for it: a path that is deleted is written out.
const opt = pathWord(place.opt);
const models = pathWord(below(place.opt, 'models'));

/** Only a tree of ours goes, by the form of its name: `models/NAME/0123456789abcdef`. */
const isTree = `istree() {
  case \${1##*/} in (*[!0-9a-f]*) return 1 ;; (????????????????) ;; (*) return 1 ;; esac
  [ -d "$1" ] && [ ! -h "$1" ]
}`;

/** A folder of trees that nothing is in goes too; so does the one above it, where it was not there before. */
const emptied = `${pathWord(tool.rmdir)} ${models}/* ${models} ${opt} 2>/dev/null
if [ ! -e ${opt} ] && [ -e ${pathWord(below(place.baseline, 'opt-folder'))} ]; then
  IFS= read -r x <${pathWord(below(place.baseline, 'opt-folder'))}
  [ "$x" != missing ] || ${pathWord(tool.rmdir)} ${pathWord(place.optParent)} 2>/dev/null
fi`;

/**
 * Takes away what runs and what is there because of meshwright, but not its folder: services, processes of jobs,
 * runtimes and staging folders, and with `models` the models too.
 */
export function clearNode({ labels, models: isWhole }: ScriptArgs['clear-node']): string {
  return `${sh.jobFolders({})}
${serviceFunctions('dev.meshwright.none', doormanEndSeconds)}
y=''
${isTree}
gone() {
  must rm ${pathWord(tool.rm)} -rf "$1"
  y=1
}
family() {
  ${pathWord(tool.ps)} -ax -o pid= -o ppid= 2>/dev/null | ${pathWord(tool.awk)} -v top="$1" '{ parent[$1] = $2 }
END { for (one in parent) { up = one; n = 0; while (up in parent && n++ < 64) { up = parent[up]; if (up == top) { print one; break } } } }'
}
ended() {
  isrunning "$1" || return 0
  c=$p
  n=0
  while :; do
    # What the shell of a job has started outlives it, as root: so it is looked for as long as its parent is known.
    isrunning "$1" && c="$c $(family "$p")"
    x=''
    for q in $c; do kill -0 "$q" 2>/dev/null && x="$x $q"; done
    [ -n "$x" ] || return 0
    c=$x s=KILL
    [ "$n" -ge 40 ] || s=TERM
    for q in $c; do kill -s "$s" "$q" 2>/dev/null; done
    n=$((n + 1))
    [ "$n" -lt 80 ] || failed still-running "job \${1##*/} still runs as process$c"
    y=1
    ${pathWord(tool.sleep)} 0.25
  done
}
${labels.map(serviceLines).join('\n')}
for j in "$b/ops/"*; do
  [ ! -d "$j" ] || ended "$j"
done
for t in ${opt}/* ${opt}/.[!.]*; do
  [ -e "$t" ] || [ -h "$t" ] || continue
  case $t in (*/models) continue ;; esac
  gone "$t"
done
${isWhole ? `for t in ${models}/*/*; do\n  if istree "$t"; then gone "$t"; fi\ndone\n` : ''}${emptied}
[ -n "$y" ] || unchanged
changed`;
}
