# Creates a tree's staging folder, which the SSH user can write to. Existing contents are kept. A verified tree remains
# unchanged, and the SSH user cannot change it. A verification mark from an older version of meshwright is removed: the
# tree's bytes may have been lost in a power failure, so the job verifies the tree again.
#
# Needs staging: the tree's staging folder
# Needs digest: the tree's digest
# Needs user: the folder's owner; empty for the user who ran sudo
# Prints: @changed or @unchanged
if [ -e "$staging/verified" ] && [ -d "$staging/tree" ]; then
  IFS= read -r x <"$staging/verified"
  [ "$x" = "$digest flushed" ] && unchanged
fi
must mkdir "$R/bin/mkdir" -p "$staging/tree"
must rm "$R/bin/rm" -f "$staging/verified"
must chown "$R/usr/sbin/chown" -R "${user:-${SUDO_USER:-root}}" "$staging"
changed
