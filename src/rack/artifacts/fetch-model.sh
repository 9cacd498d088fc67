# Fetches every file of a model into staging.
#
# From a folder of this node, a clone takes neither time nor space if the file system supports clones. cp(1) of macOS: -c
# clones, and copies if it cannot.
#
# Uses staged-files.sh
# Uses fetch-url.sh
# Needs base: the address that file names are added to; empty for a folder
# Needs folder: the folder of this node with the files; empty for a server
# Words: path, sha256, size, and name at the source, of each file
# Prints: nothing; fails with disk-full, fetch-failed, copy, wrong-digest
copied() {
  f=$folder/$2
  [ -f "$f" ] || failed no-source "there is no $f"
  size "$1"
  if [ "$n" -eq 0 ]; then
    must copy "$R/bin/cp" -c "$f" "$1"
  else
    o=$("$R/usr/bin/tail" -c "+$((n + 1))" "$f" 2>&1 >>"$1") || failed copy "$o"
  fi
}
got() {
  if [ -n "$base" ]; then fetched "$1" "$base$2"; else copied "$1" "$2"; fi
}
refuse_root "$account"
[ -z "$base" ] || room
while [ "$#" -gt 0 ]; do
  file "$1" "$2" "$3" "$4"
  shift 4
done
only
listed
whole
