# `ownlog FILE ACCOUNT` makes the ssh user the owner of the account's service log, so that this user can read it without
# root. Only the account can also write to the log, through its primary group, which has no other members. An empty
# account means the ssh user.
#
# Prints: nothing; fails with no-account
ownlog() {
  true >>"$1" || failed write 'the log could not be created'
  if [ -z "$2" ] || [ "$2" = "${SUDO_USER:-root}" ]; then
    must chown "$R/usr/sbin/chown" "${SUDO_USER:-root}" "$1"
    must chmod "$R/bin/chmod" 600 "$1"
  else
    x=$("$R/usr/bin/id" -g "$2") || failed no-account "there is no account $2"
    must chown "$R/usr/sbin/chown" "${SUDO_USER:-root}:$x" "$1"
    must chmod "$R/bin/chmod" 660 "$1"
  fi
}
