# `refuse_root ACCOUNT` prevents anything from starting as an account that can become root. It fails for root itself, an
# administrator, an account with a sudo rule, and an account that can change what launchd runs as root. An account
# passes only if sudo explicitly reports that it has no rule. The ssh user (or an empty ACCOUNT) is not checked, because
# the cluster file sets this user.
#
# sudo(8): as root, `-l -U` lists another account's rules. sudo 1.9.13 (seen on Linux) prints `User NAME is not allowed
# to run sudo on HOST.` and exits with 0; according to its source (display.c), the newest version does the same.
#
# Uses daemon-files.sh
# Needs own_accounts: the accounts that `apply` creates
# Prints: nothing; fails with no-account, can-become-root, daemons-unread
in_one_line() { printf '%s\n' "$1" | "$R/usr/bin/awk" '{ $1 = $1; printf "%s%s", s, $0; s = " " }'; }
refuse_root() {
  if [ -z "$1" ] || [ "$1" = "${SUDO_USER:-root}" ]; then return; fi
  x="there is no account $1"
  case " $own_accounts " in (*" $1 "*) x="$x: meshwright apply creates it" ;; esac
  uid=$("$R/usr/bin/id" -u "$1" 2>/dev/null) || failed no-account "$x"
  groups=$("$R/usr/bin/id" -Gn "$1" 2>/dev/null) || failed no-account "$x"
  case "$uid: $groups " in (0:* | *' admin '* | *' wheel '*) failed can-become-root "$1 is an administrator of this Mac" ;; esac
  x=$("$R/usr/bin/sudo" -l -n -U "$1" 2>&1)
  case $x in (*' is not allowed to run sudo '*) ;; (*) failed can-become-root "sudo -l -U $1: $(in_one_line "$x")" ;; esac
  # A property list may disappear while it is being read, for example because a network change was just confirmed.
  x=$(writable_daemon_file "$1" "$uid" "$groups") || x=$(writable_daemon_file "$1" "$uid" "$groups") || {
    x=$(writable_daemon_file "$1" "$uid" "$groups" 2>&1 >/dev/null)
    failed daemons-unread "cannot read what launchd runs as root: $(in_one_line "$x")"
  }
  [ -z "$x" ] || failed can-become-root "$1 may write what launchd runs as root: $(in_one_line "$x")"
}
