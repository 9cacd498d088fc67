# Starts a job that outlives the connection, unless the job is already running or its verified or published result
# already exists. Restarts a job that failed, died or lost its staging folder; the restarted job reuses the existing
# files. The job's process is detached from the connection: it has no terminal, shares no streams with the connection,
# and ignores SIGHUP.
#
# Uses ../../rack/artifacts/trees/sealed-tree.sh
# Uses ../../node/shell/job-folders.sh
# Uses ../../rack/artifacts/peers/exchange-keys.sh
# Needs folder: the job's folder
# Needs published: the tree's final folder
# Needs staged: the folder where the tree is prepared
# Needs verified: the file that contains the digest of the staged tree once a job has verified the tree
# Needs digest: the tree's digest
# Needs about: the lines of the job's `job` file, to which this script adds the boot session
# Needs run: the contents of the job's `run` file
# Needs secret: a secret line for the job's standard input, which is never stored in a file; empty if the job reads no
# secret
# Needs peers: the folder of the program that exchanges a model with other Macs; empty if the job exchanges nothing
# Needs peer_key: the key with which the Macs in an exchange authenticate each other
# Needs peer_account: the account that runs the exchange program; empty for the user who ran sudo
# Needs hours: the hours of the day in which the job may download, such as `22:00 06:00`; empty for no limit
# Needs first_rate: the rate limit of each cable, in bytes per second, after the Mac's first restart during an exchange
# Needs least_rate: the lowest rate limit after further restarts
# Needs ssh_key: the private key that the exchange program uses to log in to other Macs; empty if the program does not
# use ssh
# Needs ssh_hosts: the other Macs' host keys
# Needs ssh_peers: the other Macs' names, users, addresses and ports
# Needs granted_key: the public key with which other Macs may reach the exchange program over ssh; empty if other Macs
# have no ssh access
# Needs peer_port: the port that the exchange program listens on
# Needs tenths: the timeout for the job to record its process ID, in tenths of a second
# Prints: cable_rate=BYTES if the exchange is limited to this rate per cable; job=attached and @unchanged, job=done and
# @unchanged, or job=started and @changed; fails with mkdir, write, other-launch, not-started
isdone() {
  intact "$published" "$digest" && return
  x=''
  [ -d "$staged" ] && [ -e "$verified" ] && IFS= read -r x <"$verified"
  [ "${x% flushed}" = "$digest" ]
}
# A running exchange program picks up the new keys, so jobs of an earlier run and jobs of this run can authenticate each
# other.
keep_key() {
  umask 077
  printf '%s\n' "$2" >"$peers/$1.$$" || failed write 'the key of the exchange could not be written'
  umask 022
  must chown "$R/usr/sbin/chown" "${peer_account:-${SUDO_USER:-root}}" "$peers/$1.$$"
  must write "$R/bin/mv" -f "$peers/$1.$$" "$peers/$1"
}
if [ -n "$peers" ]; then
  must mkdir "$R/bin/mkdir" -p "$peers"
  keep_key key "$peer_key"
  if [ -n "$ssh_key" ]; then
    keep_key ssh-key "$ssh_key"
    keep_key ssh-hosts "$ssh_hosts"
    keep_key ssh-peers "$ssh_peers"
  fi
fi
# A running job rereads its `hours` file.
sethours() {
  if [ -n "$hours" ]; then write "$folder/hours" "$hours$N"; else "$R/bin/rm" -f "$folder/hours"; fi
}
# Errors are ignored: other Macs that cannot log in to this Mac get the model from elsewhere.
open_to_others() {
  [ -z "$granted_key" ] || grant "$peers" "$peer_port" "$granted_key"
}
if isrunning "$folder" && [ ! -e "$folder/rc" ]; then
  sethours
  open_to_others
  printf 'job=attached\n'
  unchanged
fi
if isdone; then
  printf 'job=done\n'
  unchanged
fi
must mkdir "$R/bin/mkdir" -p "$folder"
stale() {
  q=''
  IFS= read -r q <"$1"
  [ "$p" = "$q" ] || failed other-launch 'a different run has launched this job'
}
old=$folder/old.$$
if [ -e "$folder/pid" ]; then
  stale "$folder/pid"
  "$R/bin/mv" -f "$folder/pid" "$old"
  (stale "$old") || {
    "$R/bin/ln" "$old" "$folder/pid"
    exit 1
  }
fi
sethours
# If the Mac restarted during an exchange without a clean shutdown, the load may have caused a kernel panic, so the rate
# limit is lowered.
cable_rate=0
if [ -n "$peers" ] && [ -e "$folder/exchanging" ]; then
  IFS=' ' read -r cable_rate x <"$folder/exchanging"
  case $cable_rate in ('' | *[!0-9]* | 0?* | ????????????*) cable_rate=0 ;; esac
  if [ "$x" != stopped ] && [ "$x" != "$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)" ] && [ ! -e "$folder/rc" ]; then
    cable_rate=$((cable_rate == 0 ? first_rate : cable_rate / 2 < least_rate ? least_rate : cable_rate / 2))
  fi
fi
if [ "$cable_rate" -gt 0 ]; then
  write "$folder/rate" "$cable_rate$N"
  printf 'cable_rate=%s\n' "$cable_rate"
else
  "$R/bin/rm" -f "$folder/rate"
fi
"$R/bin/rm" -f "$old" "$folder/exchanging" "$folder/rc" "$folder/failure" "$folder/note" "$folder/progress" "$folder/activity" \
  "$folder/until" "$folder/sources" "$folder/serving" "$folder/peers"
write "$folder/job" "$about${N}boot=$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)$N"
write "$folder/run" "$run"
open_to_others
# printf is a shell builtin and writes to a pipe, so the secret never appears in the arguments of a process or in a file.
if [ -n "$secret" ]; then printf '%s\n' "$secret"; fi | (
  trap '' HUP
  exec "$R/bin/sh" "$folder/run"
) >"$folder/out" 2>"$folder/err" &
n=0
until [ -e "$folder/pid" ] || [ -e "$folder/rc" ]; do
  n=$((n + 1))
  [ "$n" -lt "$tenths" ] || failed not-started "$("$R/usr/bin/head" -n 1 "$folder/err")"
  "$R/bin/sleep" 0.1
done
printf 'job=started\n'
changed
