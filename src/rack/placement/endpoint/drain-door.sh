# Waits until no client of a placement is inside the gateway any more, or the time is over. `left=` says how many there are
# then, or `unknown`. Only where nothing listens at its port and it has no process it is known without an answer that no client is
# inside. curl(1): exit 7 is a connection that was refused.
#
# Needs label: of the gateway
# Needs inside_url: where it tells how many clients are inside
# Needs looks: how many times it is asked, four in a second
# Prints: left=COUNT; @changed
# Whether a gateway that refuses connections has no process either; what launchd does not say is no answer.
isgone() {
  o=$("$R/bin/launchctl" print "system/$label" 2>&1) || {
    case $o in (*'Could not find service'*) return 0 ;; esac
    return 1
  }
  printf '%s\n' "$o" | "$R/usr/bin/awk" '/^(\t|    )state = / { s = 1 }
/^(\t|    )pid = / { p = 1 }
END { exit !(s && !p) }'
}
n=0
while :; do
  x=$("$R/usr/bin/curl" -q -s --noproxy '*' -m 2 "$inside_url")
  e=$?
  case $e:$x in
    (0:0) break ;;
    (0:*[!0-9]* | 0:) x=unknown ;;
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
changed
