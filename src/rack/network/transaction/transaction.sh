# While a network change waits for its confirmation, it is stored in the `pending` folder in `$rb`. A process claims the
# change by renaming this folder, because the rename can succeed for only one process. The new name is `confirmed` if
# the run has connected again, `rolling` while the saved settings are being restored, and `rolled` afterward.
#
# `about FOLDER` reads a transaction: it sets `ar` to the run, `at` to the token, `as` to the step, `ab` to the boot
# session, `ap` to the ID of the process that works on the transaction, and `aw` to the text for the history. `claim
# FROM TO` renames a folder and succeeds for only one process. `ischanging` tests whether the script that changes the
# network is still running. This script is also part of a program that is stored on nodes.
#
# Needs rb: the folder that contains network changes
# Prints: nothing
about() {
  ar='' at='' as='' ab='' ap='' aw='' an=''
  { [ -d "$1" ] && [ -e "$1/about" ]; } || return 1
  while IFS= read -r x; do
    case $x in
      (run=*) ar=${x#*=} ;; (token=*) at=${x#*=} ;; (step=*) as=${x#*=} ;; (boot=*) ab=${x#*=} ;;
      (seconds=*) an=${x#*=} ;; (words=*) aw=${x#*=} ;; (pid=*) ap=${x#*=} ;;
    esac
  done <"$1/about"
  [ ! -e "$1/pid" ] || IFS= read -r ap <"$1/pid"
}
isalive() {
  case $1 in ('' | *[!0-9]*) return 1 ;; esac
  case $("$R/bin/ps" -ww -o command= -p "$1" 2>/dev/null) in
    (*'sh -s'* | *'transaction/roll'*) return 0 ;;
  esac
  return 1
}
isnow() {
  [ "$ab" = "$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)" ]
}
ischanging() {
  about "$rb/pending" && [ ! -e "$rb/pending/verdict" ] && isnow && isalive "$ap"
}
claim() {
  [ ! -e "$2" ] && "$R/bin/mv" "$1" "$2" 2>/dev/null
}
