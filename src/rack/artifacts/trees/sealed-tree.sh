# `count FOLDER` sets `n` to the number of a tree's entries that are not folders. `intact FOLDER DIGEST` checks a tree
# against its seal: the same digest, the same number of entries, and none changed after the seal was written. `seal
# FOLDER DIGEST LINES` writes the seal after all other changes to the tree's files. Renaming the whole tree changes only
# the parent folder.
#
# Prints: nothing
count() {
  n=$("$R/usr/bin/find" "$1" ! -type d ! -name .meshwright-seal | "$R/usr/bin/wc" -l)
  n=$((n))
}
intact() {
  [ -e "$1/.meshwright-seal" ] || return 1
  sd='' sc=''
  while IFS= read -r x; do
    case $x in (digest=*) sd=${x#*=} ;; (files=*) sc=${x#*=} ;; esac
  done <"$1/.meshwright-seal"
  count "$1"
  [ "$sd" = "$2" ] && [ "$sc" = "$n" ] || return 1
  [ -z "$("$R/usr/bin/find" "$1" ! -type d ! -name .meshwright-seal -cnewer "$1/.meshwright-seal")" ]
}
seal() {
  count "$1"
  write "$1/.meshwright-seal" "digest=$2${N}files=$n$N$3"
}
