# Makes launchd load a gateway whose files already exist, and waits until it has a process and answers on its port. It
# does not wait for an answer if the port still belongs to a rank that this run will move. launchctl(1): `enable` undoes
# a `disable`, which outlives bootstraps.
#
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/load-service.sh
# Uses ../../../node/shell/own-log.sh
# Needs plist: the gateway's property list
# Needs user: the gateway's account, which owns its log and its counts; empty for the user who called sudo
# Needs reload: 1 to unload it first, which stops the gateway gracefully
# Needs closed: the folder for closed placements
# Needs counts: the folder for its counts
# Needs log: the gateway's log
# Needs own: the file with the node's secret, which the ssh user and the gateway can read
# Needs own_header: the header with that secret
# Needs port: the port that the gateway listens on
# Needs status_url: the URL where it reports its placements; empty while the port is taken
# Needs status_start: how its report begins
# Words: for each placement that it no longer serves, the key file and the replica file, each with its seal
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
# Checks ten times a second. launchd's reason says more than an exit code.
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
# The gateway must answer on the port, but it cannot while another program listens there. Checks twice a second.
n=0
while [ -n "$status_url" ]; do
  x=$("$R/usr/bin/curl" -q -s --noproxy '*' -m 2 -H "@$own" "$status_url")
  case $x in ("$status_start"*) break ;; esac
  n=$((n + 1))
  [ "$n" -lt 40 ] || failed not-listening "the gateway does not listen on port $port"
  "$R/bin/sleep" 0.5
done
changed
