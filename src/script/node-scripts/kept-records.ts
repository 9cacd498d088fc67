import { pathWord, place } from '../node-paths.ts';

/**
 * Prints the records that runs keep on a node: `job KEY` or `lease`, then the lines of its file each behind `|`, and
 * `end` at the end. A folder that is not there counts as empty only where its parent could be read.
 */
export const keptRecordsScript = `b=${pathWord(place.ours)}
u() {
  printf "unreadable\\n"
  exit 0
}
s() {
  [ -e "$1" ] || return 1
  if [ ! -d "$1" ] || [ ! -r "$1" ] || [ ! -x "$1" ]; then u; fi
}
r() {
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
  done <"$1" || u
}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b"; then
  if s "$b/ops"; then
    for j in "$b/ops/"*; do
      [ -d "$j" ] || continue
      s "$j"
      [ -e "$j/job" ] || continue
      k=\${j##*/}
      case $k in (*[!A-Za-z0-9._-]*)
        printf "odd\\n"
        continue
      ;; esac
      printf "job %s\\n" "$k"
      r "$j/job"
    done
  fi
  if s "$b/lease"; then
    printf "lease\\n"
    [ ! -e "$b/lease/owner" ] || r "$b/lease/owner"
  fi
fi
printf "end\\n"`;
