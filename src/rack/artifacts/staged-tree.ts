import type { TreeFile, TreeId } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { stagedTree, stagingFolder, verifiedMark } from '../../node/paths/tree-paths.ts';
import { quote } from '../../node/quote.ts';

/**
 * Gives a folder to root. A volume that ignores owners lets chown succeed and changes nothing: then the account could
 * still write what is compared next. The job's own text belongs to root, in a rehearsal to the one account there is.
 *
 * @see find(1): -user takes a number, too
 */
export const rootOwns = (folder: string): string => `must chown ${pathWord(tool.chown)} -R root:wheel ${folder}
x=$(${pathWord(tool.stat)} -f %u "$d/run")
if ! x=$(${pathWord(tool.find)} ${folder} ! -user "$x") || [ -n "$x" ]; then failed chown 'chown reported success, and not all files were seen to belong to root'; fi`;

/** Everything below belongs to root, can be read by everybody, and runs as nobody else. */
export const ownedByRoot = (tree: TreeId): string => `${rootOwns(pathWord(stagingFolder(tree)))}
must chmod ${pathWord(tool.chmod)} -R u+rwX,go+rX,go-w,ug-s ${pathWord(stagedTree(tree))}
if ! x=$(${pathWord(tool.find)} ${pathWord(stagedTree(tree))} ! -type l '(' -perm -020 -o -perm -002 ')') || [ -n "$x" ]; then failed chmod 'chmod reported success, and other accounts may still write'; fi`;

/** Ends with `no-program` unless all of these are programs in a folder; `folder` is a word of sh. */
export const hasPrograms = (folder: string, programs: readonly string[] = []): string =>
  programs.length === 0
    ? ''
    : `p=${folder}
program() {
  if [ ! -f "$p/$1" ] || [ ! -x "$p/$1" ]; then failed no-program "$1 is no program of this version"; fi
}
${programs.map((one) => `program ${quote(one)}\n`).join('')}`;

/** Says that the tree is whole and was compared: what `publish-tree` asks for. */
export const verified = (tree: TreeId): string => `v=${pathWord(verifiedMark(tree))}
printf '%s\\n' ${tree.digest} >"$v.new" || failed write 'the mark of the verification could not be written'
must mv ${pathWord(tool.mv)} -f "$v.new" "$v"`;

/**
 * For jobs that compare files. `ischecked PATH DIGEST SIZE` says whether a file was compared already and has not been
 * written since. `compare FILE DIGEST SIZE` compares one; `size FILE` leaves its size in `n`, 0 where there is none.
 * `only` takes away what is in no list: rests of an earlier attempt, and links.
 */
export const stagedTreeFunctions = (
  tree: TreeId,
  files: readonly TreeFile[],
): string => `s=${pathWord(stagingFolder(tree))}
t=${pathWord(stagedTree(tree))}
done=0 total=${files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)}
l=$N${files.map(({ path }) => quote(path)).join('$N')}$N
size() {
  n=0
  [ ! -e "$1" ] || n=$(${pathWord(tool.stat)} -f %z "$1") || failed stat 'the size of a file could not be read'
}
compare() {
  [ -f "$1" ] && [ ! -h "$1" ] || return 1
  size "$1"
  [ "$n" -eq "$3" ] || return 1
  x=$(${pathWord(tool.shasum)} -a 256 "$1") || failed shasum 'the sha256 of a file could not be read'
  [ "\${x%% *}" = "$2" ]
}
ischecked() {
  [ -f "$t/$1" ] && [ ! -h "$t/$1" ] && [ -e "$s/checked/$2" ] || return 1
  size "$t/$1"
  [ "$n" -eq "$3" ] && [ -z "$(${pathWord(tool.find)} "$t/$1" -newer "$s/checked/$2")" ]
}
checked() {
  true >"$s/checked/$1" || failed write 'the mark of a comparison could not be written'
  done=$((done + $2))
  progress "$done" "$total"
}
only() {
  ${pathWord(tool.find)} "$t" ! -type d >"$d/there" || failed find 'the staged files could not be listed'
  while IFS= read -r x; do
    case $l in (*"$N\${x#"$t/"}$N"*) ;; (*) ${pathWord(tool.rm)} -f "$x" ;; esac
  done <"$d/there"
}
must mkdir ${pathWord(tool.mkdir)} -p "$t" "$s/checked"
${rootOwns('"$s"')}
progress 0 "$total"`;
