# `quiet` waits until no round of the keeper is under way; one that begins later finds the pending change. It looks ten times
# in a second: a round takes one or two seconds. A round that hangs is ended. It fails when a round is there after all, or
# when launchd does not say.
#
# Uses ../../../node/shell/service.sh
# Needs keeper_label: of the service of the keeper
# Needs keeper_plist: its property list
# Prints: nothing
quiet() {
  [ -e "$keeper_plist" ] || return 0
  n=0
  until k=$(L=system/$keeper_label; look 2>/dev/null || exit 0; printf '%s' "$pid") && [ -z "$k" ]; do
    n=$((n + 1))
    [ "$n" -lt 60 ] || return 1
    [ "$n" -lt 40 ] || [ -z "$k" ] || kill -s KILL "$k" 2>/dev/null
    "$R/bin/sleep" 0.1
  done
}
