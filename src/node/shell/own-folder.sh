# `ownfolder FOLDER ACCOUNT` makes an account the owner of a folder and lets no other account enter it.
#
# Prints: nothing
ownfolder() {
  must chown "$R/usr/sbin/chown" "$2" "$1"
  must chmod "$R/bin/chmod" 700 "$1"
}
