# Exchanges a model's chunks with other Macs through `peer.pl`, which runs under an account other than root. `start_peer
# FOLDER [EARLIER]` starts the program, which serves the files in FOLDER or the files that it receives; the EARLIER
# folder may contain earlier versions of some files. The script sends commands to the program on file descriptor 4 and
# reads the program's reports from descriptor 3; other processes write their own reports to descriptor 5. `finish_peer`
# waits until no other Mac needs data from this Mac. Meanwhile, it updates the job's `serving` file: the number of
# reports so far, the bytes sent, and the Macs that still need data.
#
# If the Mac restarts during an exchange, the job's `exchanging` file remains. `launch-job` then writes a lower rate
# limit to the next job's `rate` file.
#
# If this Mac's perl cannot run the program, `has_perl` returns 1 and adds the reason to the job's `peers` file. It
# tests perl by computing a digest, because any program could be named perl.
#
# Other Macs may reach the program through sshd, but only until the job ends, however it ends.
#
# Uses peer.pl
# Uses tunnel.pl
# Uses exchange-keys.sh
# Uses ../../../node/shell/refuse-root.sh
# Needs peers: the program's folder, in which the account can write only to the `own` folder
# Needs plan: the exchange plan: which data this Mac exchanges with which Macs (see peer.pl); empty if there is no
# exchange
# Needs peer_account: the account that runs the program; empty for the user who ran sudo
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
  # After an orderly shutdown, the rate is not lowered.
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
  # Other processes write to descriptor 5. If they opened the FIFO by its name and this process were killed, their open
  # calls would block forever.
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
