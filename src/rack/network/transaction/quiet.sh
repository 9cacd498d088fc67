# `quiet` waits until no keeper round is running; later rounds find the pending change. It checks ten times per second,
# because a round takes one or two seconds. It kills a round that hangs, and fails if a round is still running after six
# seconds or if launchd does not respond.
#
# Uses ../../../node/shell/service.sh
# Needs keeper_label: the label of the keeper service
# Needs keeper_plist: the keeper's property list
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
