/**
 * Functions of sh for scripts that print what lies on a node as records: a head, its lines each behind `|`, and `end`
 * at the end. `u` says that this user may not look and ends the script; `s FOLDER` says whether a folder is there (one
 * that cannot be read is not missing); `r FILE` prints the lines of a file and gives each to `l`; `f NAME FILE` prints
 * the first line of a file, if there is one, as the field NAME, and leaves it in `x`. Names of files on the node are
 * only ever expanded inside quotes.
 */
export const readRecordsFunctions = `u() {
  printf "unreadable\\n"
  exit 0
}
s() {
  [ -e "$1" ] || return 1
  if [ ! -d "$1" ] || [ ! -r "$1" ] || [ ! -x "$1" ]; then u; fi
}
l() { :; }
r() {
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
    l
  done <"$1" || u
}
f() {
  x=
  [ -e "$2" ] || return 0
  IFS= read -r x <"$2" || [ -r "$2" ] || [ ! -e "$2" ] || u
  printf "|%s=%s\\n" "$1" "$x"
}`;
