# `count FOLDER` leaves the number of the entries of a tree that are no folders in `n`. `intact FOLDER DIGEST` says
# whether a tree is as it was sealed: the same digest, as many entries, none changed after the seal was written. `seal
# FOLDER DIGEST LINES` writes the seal as the last thing that is done to the files of a tree. A rename of the whole tree
# touches only the folder above them.
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
