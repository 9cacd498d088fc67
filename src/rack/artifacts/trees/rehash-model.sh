# Hashes every file of a published model. Files that were hashed before an interruption and have not changed since then
# are not read again. If a file is wrong, the seal is replaced with a seal that matches no tree and lists the wrong
# files, so the model counts as changed and the next `apply` replaces the model.
#
# Uses ../../../node/shell/flush.sh
# Uses ../../../node/shell/sha256.sh
# Needs published: the published model's folder
# Needs seal: the file name of the seal
# Needs total: the total size of all files in bytes
# Arguments: each file's path, sha256 and size
# Prints: nothing; fails with not-published, shasum, wrong-files
if [ ! -d "$published" ] || [ -h "$published" ]; then failed not-published 'the model is not published'; fi
must mkdir "$R/bin/mkdir" -p "$d/compared"
issame() {
  if [ ! -f "$1" ] || [ -h "$1" ]; then return 1; fi
  x=$(sha256 <"$1") || failed shasum 'the sha256 of a file could not be read'
  [ "$x" = "$2" ]
}
iscompared() {
  [ -f "$1" ] && [ -e "$d/compared/$2" ] || return 1
  x=$("$R/usr/bin/find" "$1" -cnewer "$d/compared/$2") && [ -z "$x" ]
}
wrong='' done=0 k=0
progress 0 "$total"
while [ "$#" -gt 0 ]; do
  if iscompared "$published/$1" "$2"; then
    :
  elif issame "$published/$1" "$2"; then
    flush "$published/$1"
    true >"$d/compared/$2" || failed write 'the mark of a comparison could not be written'
  else
    k=$((k + 1))
    wrong=$wrong${N}wrong.$k=$1
  fi
  done=$((done + $3))
  progress "$done" "$total"
  shift 3
done
"$R/bin/rm" -rf "$d/compared"
if [ -n "$wrong" ]; then
  printf 'digest=wrong\nfiles=0\nbytes=%s%s\n' "$total" "$wrong" >"$d/seal" || failed write 'the seal could not be written'
  must mv "$R/bin/mv" -f "$d/seal" "$published/$seal"
  x=''
  while IFS= read -r f; do
    case $f in (wrong.*) x=$x${x:+, }${f#*=} ;; esac
  done <"$published/$seal"
  failed wrong-files "$x"
fi
