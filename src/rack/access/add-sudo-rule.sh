# Adds the sudo rule to meshwright's file, below the rules of other accounts. The new file has a name with a dot until
# visudo has accepted it; sudo ignores such files, so a file that visudo rejects never takes effect. The file is owned
# by root and has mode 0440 (sudoers(5)).
#
# Needs folder: the folder that contains sudo's rule files
# Needs file: meshwright's file in that folder
# Needs new: the temporary path of the new file, until visudo has accepted it
# Needs rule: a newline and the rule; the newline shows readers of this script that the rule is data
# Prints: @rule added or @rule kept; if visudo rejects the rule or another tool fails, @refused and the reason, and
# exits with 1
what=added
N='
'
refuse() {
  "$R/bin/rm" -f "$new"
  printf '@refused %s\n' "$1"
  exit 1
}
[ -d "$folder" ] || "$R/bin/mkdir" -m 755 "$folder" || exit 1
if [ -e "$file" ]; then
  while IFS= read -r s || [ -n "$s" ]; do [ "$N$s" != "$rule" ] || what=kept; done <"$file"
  o=$("$R/bin/cat" "$file") || exit 1
else
  o='# meshwright: lets this account run its scripts as root. Remove this file to end that.'
fi
if [ "$what" = added ]; then
  printf '%s%s\n' "$o" "$rule" >"$new" || refuse 'the rule could not be written'
  o=$("$R/usr/sbin/visudo" -cf "$new" 2>&1) || refuse "visudo: $o"
  { "$R/bin/chmod" 0440 "$new" && "$R/usr/sbin/chown" root:wheel "$new" && "$R/bin/mv" -f "$new" "$file"; } ||
    refuse 'the rule could not be put in its place'
fi
printf '@rule %s\n' "$what"
