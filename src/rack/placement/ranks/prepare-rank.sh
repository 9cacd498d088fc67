# Runs a runtime's `prepare` as the ranks' account, in the folder that `{data}` names. A job runs it again only if its
# mark is missing; the mark is written after `prepare` exits with 0. After an interruption, `prepare` finds the previous
# run's files in the folder. The mark belongs to root, so it is next to the folder and not in it.
#
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/own-folder.sh
# Uses ../../../node/shell/end-preparations.sh
# Needs account: the ranks' account; empty for the user who called sudo
# Needs home: the home of a meshwright account
# Needs temporary: the account's replacement for /tmp
# Needs folder: the placement's folder
# Needs data: the folder for the account's results
# Needs mark: the file that marks this preparation as complete
# Needs digest: the mark's contents
# Words: the account's environment as NAME=VALUE, the words `/bin/sh -c SCRIPT MARK` and the command line
# Prints: nothing; fails with prepare and the last lines of the output
refuse_root "$account"
account=${account:-${SUDO_USER:-root}}
end_preparations "$folder"
[ "$account" = "${SUDO_USER:-root}" ] || for x in "$home" "$temporary"; do
  must mkdir "$R/bin/mkdir" -p "$x"
  ownfolder "$x" "$account"
done
must mkdir "$R/bin/mkdir" -p "$data"
ownfolder "$data" "$account"
o=$d/said
(
  cd "$data" || exit
  exec "$R/usr/bin/sudo" -n -H -u "$account" "$R/usr/bin/env" "$@"
) </dev/null >"$o" 2>&1 &
c=$!
trap 'end_preparations "$folder"; end 143' TERM
# The sizes of its folder and its output are the only signs of progress.
while kill -0 "$c" 2>/dev/null; do
  progress "$("$R/usr/bin/find" "$o" "$data" -type f -exec "$R/usr/bin/stat" -f %z '{}' + 2>/dev/null | "$R/usr/bin/awk" '{ s += $1 } END { printf "%.0f", s }')"
  "$R/bin/sleep" 1
done
wait "$c"
x=$?
[ "$x" -eq 0 ] || failed prepare "it exited with $x: $("$R/usr/bin/tail" -n 5 "$o" | "$R/usr/bin/awk" '{ printf "%s%.200s", s, $0; s = " | " }')"
printf '%s\n' "$digest" >"$mark.new" || failed write 'the mark could not be written'
must mv "$R/bin/mv" -f "$mark.new" "$mark"
