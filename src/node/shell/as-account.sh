# `as_account COMMAND` runs a command as the account of the ranks, so that nothing that it fetches or starts runs as root. It runs
# in `$build`, a new folder of that account each time, which `build_folder` creates. Words such as NAME=VALUE before the
# command set variables of its environment. `take FILE BYTES TARGET` copies a result that is not too long to `TARGET.new`,
# and `publish TARGET` completes it for the computer that reads it: the account owns the folder, so only the account may
# follow a link in it.
#
# Uses refuse-root.sh
# Needs account: the account, which must not be able to become root; empty for the user who called sudo
# Needs builds: the account's folder for builds
# Prints: nothing; fails with mktemp, no-result, stat, too-long
refuse_root "$account"
account=${account:-${SUDO_USER:-root}}
as_account() {
  # Programs such as find enter the folder in which they start, and other accounts cannot enter the ssh user's home.
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
