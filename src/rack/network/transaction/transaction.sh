# While a network change waits for its confirmation, it is stored in the folder `pending` in `$rb`. To end the change, a
# process renames this folder, because only one process's rename can succeed: to `confirmed` if the run connected again,
# to `rolling` while the saved settings are restored, and to `rolled` afterwards.
#
# `about FOLDER` reads a transaction: `ar` run, `at` token, `as` step, `ab` boot session, `ap` the process that works on
# it, `aw` its words for the history. `claim FROM TO` renames a folder and succeeds for only one process. `ischanging`
# tests whether the script that changes the network is still running. This text is part of a program stored on nodes.
#
# Needs rb: the folder for network changes
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
