# `ownfolder FOLDER ACCOUNT` makes ACCOUNT the owner of FOLDER and denies access to all other accounts.
#
# Prints: nothing
ownfolder() {
  must chown "$R/usr/sbin/chown" "$2" "$1"
  must chmod "$R/bin/chmod" 700 "$1"
}
