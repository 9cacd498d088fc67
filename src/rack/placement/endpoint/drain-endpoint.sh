# Waits until the gateway has no requests in flight for a placement, or until the timeout expires. `left=` is the number
# of remaining requests, or `unknown`; if the number is unknown, `curl=` is curl's last exit code. If the gateway does
# not respond, the number is known to be 0 only if nothing listens on the gateway's port and the gateway has no process.
# If a different program uses the port, such as a runtime that did not have a gateway so far, that program never returns
# a number, so it is not queried again. curl(1): exit code 7 means that the connection was refused.
#
# Needs label: the gateway's launchd label
# Needs in_flight_url: the URL at which the gateway reports its requests in flight
# Needs own: the file that contains the header with the gateway's secret
# Needs looks: the maximum number of checks, four per second
# Prints: left=COUNT, curl=EXIT; @changed
# `isgone` tests whether a gateway that refuses connections also has no process. It returns 1 if launchd's report is
# unclear.
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
