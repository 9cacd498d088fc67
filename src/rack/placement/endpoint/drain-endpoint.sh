# Waits until the gateway has no request in flight for a placement, or until the time expires. `left=` is the number of
# remaining requests, or `unknown`; `curl=` is then curl's last exit code. Without an answer from the gateway, the
# number is known to be 0 only if nothing listens on its port and it has no process. Another program on the port, such
# as a runtime that has had no gateway so far, never returns a number, so it is not asked again. curl(1): exit 7 is a
# refused connection.
#
# Needs label: the gateway's launchd label
# Needs in_flight_url: the URL where the gateway reports its requests in flight
# Needs own: the file with the secret that the gateway expects as a header
# Needs looks: the number of checks, four per second
# Prints: left=COUNT, curl=EXIT; @changed
# `isgone` tests whether a gateway that refuses connections also has no process; an unclear answer from launchd counts
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
