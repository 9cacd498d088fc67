# Loads a gateway into launchd, and waits until the gateway has a process and responds on its port. The gateway's files
# must already exist. Does not wait for a response if the port still belongs to a rank that this run will move.
# launchctl(1): `enable` undoes a `disable`, which otherwise persists across bootstraps.
#
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/load-service.sh
# Uses ../../../node/shell/own-log.sh
# Needs plist: the gateway's property list
# Needs user: the account that runs the gateway and writes its log and counters; empty for the user who ran sudo
# Needs reload: 1 to unload the gateway first, which shuts the gateway down gracefully
# Needs closed: the folder for the files that keep placements closed
# Needs counts: the folder for the gateway's counters
# Needs log: the gateway's log
# Needs own: the file that contains the gateway's secret, which the ssh user and the gateway can read
# Needs own_header: the name of the header that contains this secret
# Needs port: the port that the gateway listens on
# Needs status_url: the URL at which the gateway reports its placements; empty while the port still belongs to a rank
# Needs status_start: the text with which the gateway's report begins
# Arguments: for each placement that the gateway no longer serves, the key file and the replica file, each followed by
# its seal
# Prints: @changed or @unchanged; fails with no-gateway, gateway, not-listening
[ -e "$plist" ] || failed no-gateway "there is no $plist"
owner=${user:-${SUDO_USER:-root}}
refuse_root "$user"
if look; then
  [ -n "$reload" ] || [ -z "$pid" ] || unchanged
  [ -z "$reload" ] || bootout
fi
while [ "$#" -gt 0 ]; do
  must rm "$R/bin/rm" -f "$1" "$2"
  shift 2
done
must mkdir "$R/bin/mkdir" -p "$closed" "$counts" "${log%/*}"
ownlog "$log" "$user"
ownlog "$own" "$user"
x=$("$R/usr/bin/head" -c 32 /dev/urandom | "$R/usr/bin/base64")
[ "${#x}" -ge 40 ] || failed write 'no secret could be made'
printf '%s: %s\n' "$own_header" "$x" >"$own" || failed write 'the secret of the gateway could not be written'
must chown "$R/usr/sbin/chown" "$owner" "$counts"
must launchctl "$R/bin/launchctl" enable "$L"
load_service "$plist"
# Checks ten times a second. launchd's exit reason is more informative than the exit code.
n=0
until look && [ -n "$pid" ]; do
  n=$((n + 1))
  if [ "$n" -ge 100 ]; then
    x=$(printf '%s\n' "$o" | "$R/usr/bin/awk" 'sub(/^[ \t]*last exit reason = /, "") { r = $0 }
sub(/^[ \t]*last exit code = /, "") { c = $0 }
END { print r != "" ? r : c }')
    failed gateway "the gateway does not keep running; its last exit: ${x:-unknown}"
  fi
  "$R/bin/sleep" 0.1
done
# The gateway must respond on the port, which it cannot do while another program listens on this port. Checks twice a
# second.
n=0
while [ -n "$status_url" ]; do
  x=$("$R/usr/bin/curl" -q -s --noproxy '*' -m 2 -H "@$own" "$status_url")
  case $x in ("$status_start"*) break ;; esac
  n=$((n + 1))
  [ "$n" -lt 40 ] || failed not-listening "the gateway does not listen on port $port"
  "$R/bin/sleep" 0.5
done
changed
