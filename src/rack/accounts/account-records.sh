# `directory COMMAND Users|Groups NAME …` leaves in `o` what dscl says; a refusal that a person can lift has a slug of its own. `has LINE`
# looks in the record `r`, and `read_account NAME` leaves that of an account there.
#
# Needs accounts: the folder with what was made for accounts of ours: NAME, and NAME.begun while one is being made
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
