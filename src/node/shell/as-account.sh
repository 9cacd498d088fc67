# `as_account COMMAND` runs a command as the ranks' account, so that nothing it fetches or starts runs as root. The
# command runs in `$build`, a new folder that `build_folder` creates for the account each time. Arguments such as
# NAME=VALUE before the command set its environment variables. `take FILE BYTES TARGET` copies a result of at most BYTES
# to `TARGET.new`. It reads FILE as the account, which owns the folder and could have put a link there. `publish TARGET`
# makes the result readable and gives it its final name.
#
# Uses refuse-root.sh
# Needs account: the account, which must not be able to become root; empty for the user who called sudo
# Needs builds: the account's folder for builds
# Prints: nothing; fails with mktemp, no-result, stat, too-long
refuse_root "$account"
account=${account:-${SUDO_USER:-root}}
as_account() {
  # Programs such as find enter the folder they start in, and other accounts cannot enter the ssh user's home.
  (cd "$build" && exec "$R/usr/bin/sudo" -n -H -u "$account" "$R/usr/bin/env" HOME="$build" TMPDIR="$build" "$@" </dev/null)
}
build_folder() {
  must mkdir "$R/bin/mkdir" -p "${builds%/*}"
  must rm "$R/bin/rm" -rf "$builds".*
  build=$("$R/usr/bin/mktemp" -d "$builds.XXXXXX")
  [ -d "$build" ] || failed mktemp 'no folder could be created for the build'
  must chown "$R/usr/sbin/chown" "$account" "$build"
}
take() {
  as_account "$R/usr/bin/head" -c $(($2 + 1)) "$1" >"$3.new" || failed no-result "no ${3##*/} was written"
  x=$("$R/usr/bin/stat" -f %z "$3.new") || failed stat "the size of the ${3##*/} could not be read"
  [ "$x" -le "$2" ] || failed too-long "the ${3##*/} has more than $2 bytes"
}
publish() {
  must chmod "$R/bin/chmod" 644 "$1.new"
  must mv "$R/bin/mv" -f "$1.new" "$1"
}
