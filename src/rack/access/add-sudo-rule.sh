# Adds the sudo rule to meshwright's file, below other accounts' rules. sudo ignores names with a dot, so a file that
# visudo rejects never takes effect. The file has mode 0440 and is owned by root (sudoers(5)).
#
# Needs folder: the folder with sudo's files
# Needs file: meshwright's file
# Needs new: the file's path until visudo has accepted it
# Needs rule: a newline, which marks the rule as data for readers of this script, and then the rule
# Prints: @rule added or @rule kept; @refused and the reason, and exits with 1, if visudo or another tool refuses the
# rule
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
