# Creates the staging folder of a tree, writable for the SSH user. Its contents are kept. A verified tree remains
# unchanged, and the user cannot change it. The mark of an older version is removed: its bytes may have been lost with the
# power, so the job verifies the tree once more.
#
# Needs staging: the folder for everything that making the tree needs
# Needs digest: of the tree
# Needs user: the owner of the folder; empty for the user who called sudo
# Prints: @changed or @unchanged
if [ -e "$staging/verified" ] && [ -d "$staging/tree" ]; then
  IFS= read -r x <"$staging/verified"
  [ "$x" = "$digest flushed" ] && unchanged
fi
must mkdir "$R/bin/mkdir" -p "$staging/tree"
must rm "$R/bin/rm" -f "$staging/verified"
must chown "$R/usr/sbin/chown" -R "${user:-${SUDO_USER:-root}}" "$staging"
changed
