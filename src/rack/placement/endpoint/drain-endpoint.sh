# Waits until the gateway has no request in flight for a placement, or until the time expires. `left=` gives the number
# that remains, or `unknown`; `curl=` then gives curl's last exit code. Without an answer from the gateway, the number
# is known to be 0 only if nothing listens on its port and it has no process. Another program on the port, such as a
# runtime without a gateway so far, never gives a number, so it is not asked again. curl(1): exit 7 is a refused
# connection.
#
# Needs label: the gateway's launchd label
# Needs in_flight_url: where the gateway reports its requests in flight
# Needs own: the file with the secret that it wants as a header
# Needs looks: the number of checks, four per second
# Prints: left=COUNT, curl=EXIT; @changed
# `isgone` shows whether a gateway that refuses connections has no process either; an unclear answer of launchd counts
# as no.
isgone() {
  o=$("$R/bin/launchctl" print "system/$label" 2>&1) || {
    case $o in (*'Could not find service'*) return 0 ;; esac
    return 1
  }
  printf '%s\n' "$o" | "$R/usr/bin/awk" '/^(\t|    )state = / { s = 1 }
/^(\t|    )pid = / { p = 1 }
END { exit !(s && !p) }'
}
[ -r "$own" ] || own=/dev/null
n=0
while :; do
  x=$("$R/usr/bin/curl" -q -s --noproxy '*' -m 2 -H "@$own" "$in_flight_url")
  e=$?
  case $e:$x in
    (0:0) break ;;
    (0:) x=unknown ;;
    (0:*[!0-9]*)
      x=unknown
      break
    ;;
    (0:*) ;;
    (7:*)
      x=0
      if isgone; then break; fi
      x=unknown
    ;;
    (*) x=unknown ;;
  esac
  [ "$n" -lt "$looks" ] || break
  n=$((n + 1))
  "$R/bin/sleep" 0.25
done
printf 'left=%s\n' "$x"
case $x in (unknown) printf 'curl=%s\n' "$e" ;; esac
changed
