# Appends one line to the ssh user's `authorized_keys` in a single write, so existing lines are not rewritten and a
# symbolic link is kept. The `.ssh` folder and the file get the modes that sshd requires: with StrictModes, sshd ignores
# a file that others can write to (sshd(8)). Exits with 1 if a tool fails.
#
# Needs key: the key's type and base64 text
# Needs mark: the comment by which `uninstall` recognizes the line
# Prints: @key added or @key kept
folder=$HOME/.ssh keys=$HOME/.ssh/authorized_keys what=added
[ -d "$folder" ] || "$R/bin/mkdir" -m 700 "$folder" || exit 1
if [ -e "$keys" ]; then
  while IFS= read -r s || [ -n "$s" ]; do
    case $s in ('#'*) ;; ("$key" | "$key "* | *" $key" | *" $key "*) what=kept ;; esac
  done <"$keys"
fi
if [ "$what" = added ]; then
  n=
  [ ! -s "$keys" ] || [ -z "$("$R/usr/bin/tail" -c 1 "$keys")" ] || n='
'
  printf '%s%s %s\n' "$n" "$key" "$mark" >>"$keys" || exit 1
  "$R/bin/cat" "$keys" >/dev/null || exit 1
fi
"$R/bin/chmod" 700 "$folder" && "$R/bin/chmod" 600 "$keys" || exit 1
printf '@key %s\n' "$what"
