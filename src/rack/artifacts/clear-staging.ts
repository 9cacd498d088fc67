import type { ScriptArgs } from '../../model/node-script.ts';
import { jobFolderFunctions, jobKeyWord } from '../../node/job-folders.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';

/**
 * Takes away staging folders and folders of jobs that are needed no longer. A job that runs keeps its own, and the tree
 * that it works on. What uv was making for a staging folder goes with it. A staging folder leaves its place by one rename before its files are deleted.
 */
export function clearStaging({ folders, jobs }: ScriptArgs['clear-staging']): string {
  return `${jobFolderFunctions}
y=''
${pathWord(tool.rm)} -rf ${pathWord(below(place.opt, 'staging/.removed'))}-*
isused() {
  for j in "$b/ops/"*; do
    [ -e "$j/job" ] || continue
    [ ! -e "$j/rc" ] || continue
    isrunning "$j" || continue
    while IFS= read -r x; do
      case $x in ("tree=$1" | "tree=$1 $2") return 0 ;; esac
    done <"$j/job"
  done
  return 1
}
gone() {
  t=${pathWord(below(place.opt, 'staging'))}/$1
  [ -d "$t" ] || return 0
  x=\${1#*-}
  isused "\${1%%-*} \${x%-*}" "\${1##*-}" && return
  must rm ${pathWord(tool.rm)} -rf ${pathWord(place.builds)}/"$1".*
  g=${pathWord(below(place.opt, 'staging/.removed'))}-$$-$1
  must mv ${pathWord(tool.mv)} -f "$t" "$g"
  must rm ${pathWord(tool.rm)} -rf "$g"
  y=1
}
${folders.map((folder) => `gone ${folderWord(folder)}`).join('\n')}
${jobs.map((key) => `cleared ${jobKeyWord(key)} && y=1`).join('\n')}
[ -n "$y" ] || unchanged
changed`;
}

/** @throws Error when it is none of ours, which is our own value: it becomes part of a path that is deleted */
function folderWord(folder: string): string {
  if (!/^(?:runtime|model)-[A-Za-z0-9._-]{1,255}-[0-9a-f]{16}$/.test(folder)) throw new Error('no staging folder');
  return folder;
}
