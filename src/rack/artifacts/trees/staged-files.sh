# Defines functions for jobs that check files, and creates the folders that these jobs need. `ischecked PATH DIGEST
# SIZE` tests whether a file has passed a check and has not been written to since. `mark PATH DIGEST` flushes a file and
# then marks it as checked, because a mark must not survive a power failure in which the file's bytes are lost; `checked
# PATH DIGEST SIZE` also counts the file's bytes. Marks from older versions of meshwright are empty and do not count.
# `listed` writes the list of the files that passed, which is published with these files. `compare FILE DIGEST SIZE`
# checks a file; `size FILE` sets `n` to the file's size, or to 0 if the file is missing. `only` removes all files and
# links that are not in `paths`, such as leftovers from an earlier attempt.
#
# Uses staged-tree.sh
# Uses ../../../node/shell/sha256.sh
# Needs paths: the paths of all files, one per line
# Needs total: the total size of all files in bytes
# Prints: nothing
t=$staging/tree
done=0 list=''
size() {
  n=0
  [ ! -e "$1" ] || n=$("$R/usr/bin/stat" -f %z "$1") || failed stat 'the size of a file could not be read'
}
compare() {
  [ -f "$1" ] && [ ! -h "$1" ] || return 1
  size "$1"
  [ "$n" -eq "$3" ] || return 1
  x=$(sha256 <"$1") || failed shasum 'the sha256 of a file could not be read'
  [ "$x" = "$2" ]
}
ischecked() {
  [ -f "$t/$1" ] && [ ! -h "$t/$1" ] && [ -e "$staging/checked/$2" ] || return 1
  x=''
  IFS= read -r x <"$staging/checked/$2"
  [ "$x" = flushed ] || return 1
  size "$t/$1"
  [ "$n" -eq "$3" ] && [ -z "$("$R/usr/bin/find" "$t/$1" -newer "$staging/checked/$2")" ]
}
mark() {
  flush "$t/$1"
  printf 'flushed\n' >"$staging/checked/$2" || failed write 'the mark of a comparison could not be written'
}
checked() {
  mark "$@"
  passed "$@"
}
passed() {
  list="$list$2 $3 $1$N"
  done=$((done + $3))
  progress "$done" "$total"
}
listed() {
  printf '%s' "$list" >"$t/.meshwright-files" || failed write 'the list of files could not be written'
}
only() {
  "$R/usr/bin/find" "$t" ! -type d >"$d/there" || failed find 'the staged files could not be listed'
  while IFS= read -r x; do
    case $N$paths$N in (*"$N${x#"$t/"}$N"*) ;; (*) "$R/bin/rm" -f "$x" ;; esac
  done <"$d/there"
}
must mkdir "$R/bin/mkdir" -p "$t" "$staging/checked"
owned "$staging"
progress 0 "$total"
