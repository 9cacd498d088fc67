# `ownlog FILE ACCOUNT` makes the ssh user the owner of a service's log, so this user can read the log without root.
# Besides the ssh user, only ACCOUNT can write to the log, through the account's primary group, which has no other
# members. An empty ACCOUNT means the ssh user.
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
