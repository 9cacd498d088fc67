# `ownfolder FOLDER ACCOUNT` gives a folder to an account; no other account can enter it then.
#
# Prints: nothing
ownfolder() {
  must chown "$R/usr/sbin/chown" "$2" "$1"
  must chmod "$R/bin/chmod" 700 "$1"
}
