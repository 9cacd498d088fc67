# `directory COMMAND Users|Groups NAME …` sets `o` to dscl's output; a permission error, which a person can resolve, has
# its own slug. `has LINE` tests whether the record `r` contains a line, and `read_account NAME` reads an account's
# record into `r`.
#
# Needs accounts: the folder that contains a file NAME for each of our accounts, or NAME.begun while the account is
# being created
# Prints: nothing; fails with no-full-disk-access, dscl
directory() {
  c=$1 x=/$2${3:+/$3}
  shift 3
  set -- "$c" "$x" "$@"
  o=$("$R/usr/bin/dscl" . "$@" 2>&1) && return
  case $o in
    (*eDSRecordNotFound*) o='' ;;
    (*eDSPermissionError*) failed no-full-disk-access "macOS refused dscl $1 $2" ;;
    (*) failed dscl "$o" ;;
  esac
}
has() {
  case "$N$r$N" in (*"$N$1$N"*) return 0 ;; esac
  return 1
}
read_account() {
  directory -read Users "$1" GeneratedUID NFSHomeDirectory Password PrimaryGroupID UniqueID UserShell
  r=$o
}
