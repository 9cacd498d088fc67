# Runs a runtime's `prepare` command as the ranks' account, in the `{data}` folder. A job runs `prepare` again only if
# its mark is missing; the mark is written after `prepare` has exited with 0. After an interruption, the files of the
# previous attempt are still in the folder. The mark belongs to root, so it is stored next to the folder, not in the
# folder.
#
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/own-folder.sh
# Uses ../../../node/shell/end-preparations.sh
# Needs account: the ranks' account; empty for the user who ran sudo
# Needs home: the home of a meshwright account
# Needs temporary: the account's replacement for /tmp
# Needs folder: the placement's folder
# Needs data: the `{data}` folder, in which the account stores the results
# Needs mark: the file that marks this preparation as complete
# Needs digest: the mark's contents
# Arguments: the account's environment as NAME=VALUE arguments, then `/bin/sh -c SCRIPT MARK` and the command line
# Prints: nothing; fails with prepare and the last lines of the command's output
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
# The only measure of progress is the total size of the folder and the output.
while kill -0 "$c" 2>/dev/null; do
  progress "$("$R/usr/bin/find" "$o" "$data" -type f -exec "$R/usr/bin/stat" -f %z '{}' + 2>/dev/null | "$R/usr/bin/awk" '{ s += $1 } END { printf "%.0f", s }')"
  "$R/bin/sleep" 1
done
wait "$c"
x=$?
[ "$x" -eq 0 ] || failed prepare "it exited with $x: $("$R/usr/bin/tail" -n 5 "$o" | "$R/usr/bin/awk" '{ printf "%s%.200s", s, $0; s = " | " }')"
printf '%s\n' "$digest" >"$mark.new" || failed write 'the mark could not be written'
must mv "$R/bin/mv" -f "$mark.new" "$mark"
