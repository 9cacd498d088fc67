# `load_service PLIST` makes launchd load the service `$L`, which it may refuse for a moment after a `bootout`.
# launchctl(1): bootstrap ends with 5 where it is loaded.
#
# Uses service.sh
# Prints: nothing; fails with launchctl
load_service() {
  n=0
  until e=$("$R/bin/launchctl" bootstrap system "$1" 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || failed launchctl "$e"
    "$R/bin/sleep" 2
  done
}
