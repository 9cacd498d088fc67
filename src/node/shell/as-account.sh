# `as_account COMMAND` runs a command as the ranks' account, so nothing that the command fetches or starts runs as root.
# The command runs in the `$build` folder, which `build_folder` creates from scratch for the account. NAME=VALUE
# arguments before the command set environment variables. `take FILE BYTES TARGET` copies a build result of at most
# BYTES bytes to `TARGET.new`. `take` reads FILE as the account, because the account owns the folder and could have
# replaced FILE with a link. `publish TARGET` makes the result readable for every account and renames it to TARGET.
#
# Uses refuse-root.sh
# Needs account: the ranks' account, which must not be able to become root; empty for the user who ran sudo
# Needs builds: the path prefix of the account's build folders
# Prints: nothing; fails with mktemp, no-result, stat, too-long
refuse_root "$account"
account=${account:-${SUDO_USER:-root}}
as_account() {
  # Programs such as find must be able to enter their working directory, and other accounts cannot enter the ssh user's
  # home.
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
