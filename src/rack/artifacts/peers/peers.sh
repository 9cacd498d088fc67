# Exchanges a model's chunks with other Macs through `peer.pl`, which runs under an account other than root. `start_peer
# FOLDER [EARLIER]` starts the program, which serves the files in FOLDER or the files that it receives; the second
# folder may contain earlier versions of some of them. The program gets its commands through descriptor 4, and its
# reports arrive on 3; other processes add their reports through 5. `finish_peer` waits until no other Mac needs this
# one; meanwhile, the job's file `serving` contains the number of reports so far, the bytes that this Mac has sent, and
# the Macs that still need it.
#
# If the Mac restarts during an exchange, the job's file `exchanging` remains. `launch-job` then writes a lower rate to
# the next job's file `rate`.
#
# If this Mac's perl cannot run the program, `has_perl` returns 1 and adds the reason to the job's file `peers`. It has
# perl compute a digest, because a program named perl could do anything.
#
# Other Macs may reach the program through sshd, but only until the job ends, however it ends.
#
# Uses peer.pl
# Uses tunnel.pl
# Uses exchange-keys.sh
# Uses ../../../node/shell/refuse-root.sh
# Needs peers: the program's folder, in which the account can write only to the folder `own`
# Needs plan: what this Mac exchanges with which Macs; see peer.pl
# Needs peer_account: the account that runs it; empty for the user who called sudo
# Prints: nothing
[ -z "$plan" ] || trap 'revoke "$peers"' EXIT
has_perl() {
  peer_account=${peer_account:-${SUDO_USER:-root}}
  x=$(cd / && "$R/usr/bin/sudo" -n -H -u "$peer_account" "$R/usr/bin/perl" -MDigest::SHA=sha1_hex -MSocket -MTime::HiRes -e 'print sha1_hex("meshwright"), " $]\n"' 2>"$d/peer")
  case $x in ('d878173647ca558469669c3ba6a1ccd0fa6e07b3 5.'[0-9]*) return ;; esac
  printf 'perl %s\n' "$("$R/usr/bin/head" -n 1 "$d/peer")" >>"$d/peers"
  return 1
}
start_peer() {
  peer_account=${peer_account:-${SUDO_USER:-root}}
  must mkdir "$R/bin/mkdir" -p "$peers"
  cable_rate=0
  [ ! -e "$d/rate" ] || IFS= read -r cable_rate <"$d/rate"
  put exchanging "$cable_rate $("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)"
  # An orderly shutdown is no reason for a lower rate.
  trap 'put exchanging "$cable_rate stopped"; exit 143' TERM
  printf 'rate %s\n%s' "$cable_rate" "$plan" >"$peers/plan" || failed write 'the plan of the exchange could not be written'
  printf '%s\n' "$tunnel_program" >"$peers/tunnel.pl" || failed write 'the program of the exchange could not be written'
  if [ -e "$peers/own" ] && [ -z "$("$R/usr/bin/find" "$peers/own" -prune -user "$peer_account")" ]; then
    must rm "$R/bin/rm" -rf "$peers/own"
  fi
  [ -e "$peers/own" ] || {
    must mkdir "$R/bin/mkdir" "$peers/own"
    must chown "$R/usr/sbin/chown" "$peer_account" "$peers/own"
  }
  "$R/bin/rm" -f "$d/events" "$d/commands"
  must mkfifo "$R/usr/bin/mkfifo" -m 600 "$d/events" "$d/commands"
  (
    cd /
    set -- "$peers" "$1" "${2-}" "$R/bin/cp" "$R/usr/bin/ssh"
    "$R/usr/bin/sudo" -n -H -u "$peer_account" "$R/usr/bin/perl" -e "$peer_program" -- "$@"
    printf 'gone\n'
  ) <"$d/commands" >"$d/events" 2>"$d/peer" &
  # A process that opened the fifo by name only to write would wait forever if this process were killed.
  exec 4>"$d/commands" 3<"$d/events" 5>"$d/events"
  peered=1
}
finish_peer() {
  activity serving
  printf 'finish\n' >&4
  x='' reports=0
  until [ "$x" = gone ]; do
    IFS= read -r x <&3
    case $x in
      ('peer '* | 'drop '*) printf '%s\n' "$x" >>"$d/peers" ;;
      ('serving '*)
        reports=$((reports + 1))
        put serving "$reports ${x#serving }"
        ;;
    esac
  done
  wait
  "$R/bin/rm" -f "$d/exchanging" "$d/rate"
  revoke "$peers"
}
