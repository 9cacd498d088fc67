import { pathWord, tool } from './paths/node-paths.ts';

/**
 * `isrunning FOLDER` says whether the process of a job lives, by its number and its command line, and leaves the number
 * in `p`. `cleared KEY` takes the folder of a job away whose process has ended, or has nothing left to do but to end.
 */
export const jobFolderFunctions = `isrunning() {
  p=''
  [ -e "$1/pid" ] && IFS= read -r p <"$1/pid"
  case $p in ('' | *[!0-9]*) return 1 ;; esac
  case $(${pathWord(tool.ps)} -ww -o command= -p "$p") in (*"/\${1##*/}/run"*) ;; (*) return 1 ;; esac
}
cleared() {
  [ -d "$b/ops/$1" ] || return 1
  [ -e "$b/ops/$1/rc" ] || ! isrunning "$b/ops/$1" || return 1
  ${pathWord(tool.rm)} -rf "$b/ops/$1"
}`;

/** A key as a word of a script. @throws Error when it is none, which is our own value: a folder of its name is deleted */
export function jobKeyWord(key: string): string {
  if (!/^[0-9a-f]{64}$/.test(key)) throw new Error('the key of a job is a digest');
  return key;
}
