# `bootstrap PLIST` makes launchd load the service of `service.sh`; it may refuse for a moment after a `bootout`.
#
# Uses service.sh
# Prints: nothing; fails with launchctl
bootstrap() {
  n=0
  until e=$("$R/bin/launchctl" bootstrap system "$1" 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || failed launchctl "$e"
    "$R/bin/sleep" 2
  done
}
