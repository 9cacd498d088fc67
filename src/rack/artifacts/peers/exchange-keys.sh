# `grant FOLDER PORT KEY` lets Macs that have the private key for KEY reach the exchange program in FOLDER through sshd.
# It adds a line to the ssh user's `authorized_keys` file that allows only `tunnel.pl` with this port and expires after
# two days. `revoke FOLDER` removes this line. The `granted` file in FOLDER contains the path of the `authorized_keys`
# file that was changed.
#
# sudo(8), ENVIRONMENT: macOS's sudoers file preserves HOME. sshd(8), AUTHORIZED_KEYS FILE FORMAT: `restrict` forbids
# forwarding and terminals.
#
# Uses keys.pl
# Prints: nothing
grant() {
  printf '%s\n' "$HOME/.ssh/authorized_keys" >"$1/granted"
  "$R/usr/bin/perl" -e "$keys_program" -- "$HOME/.ssh/authorized_keys" "meshwright-exchange-${1##*/}" 172800 \
    "'$R/usr/bin/perl' '$1/tunnel.pl' $2" "$3" 2>/dev/null
}
revoke() {
  [ -e "$1/granted" ] || return 0
  keys=''
  IFS= read -r keys <"$1/granted"
  "$R/usr/bin/perl" -e "$keys_program" -- "$keys" "meshwright-exchange-${1##*/}" 2>/dev/null
  "$R/bin/rm" -f "$1/granted"
}
