# `count FOLDER` sets `n` to the number of entries in a tree that are not folders. `intact FOLDER DIGEST` tests whether
# a tree matches its seal: the digest and the number of entries are the same, and no entry has changed since the seal
# was written. `seal FOLDER DIGEST LINES` writes the seal, which must be the last change to the tree's files. The whole
# tree can still be renamed, because a rename changes only the parent folder.
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
