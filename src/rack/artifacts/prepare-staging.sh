# Makes the staging folder of a tree, so that the ssh user can write into it. What lies there stays; a tree that is
# verified already stays as it is, out of the user's hands.
#
# Needs staging: the folder of all that belongs to the making of the tree
# Needs digest: of the tree
# Needs user: who gets the folder; empty for the user who called sudo
# Prints: @changed or @unchanged
if [ -e "$staging/verified" ] && [ -d "$staging/tree" ]; then
  IFS= read -r x <"$staging/verified"
  [ "$x" = "$digest" ] && unchanged
fi
must mkdir "$R/bin/mkdir" -p "$staging/tree"
must rm "$R/bin/rm" -f "$staging/verified"
must chown "$R/usr/sbin/chown" -R "${user:-${SUDO_USER:-root}}" "$staging"
changed
