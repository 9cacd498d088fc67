# `owned FOLDER` makes root the owner of a folder and its contents, and checks the result: on a volume that ignores
# owners, chown succeeds without changing anything, and the account could still write to the files that are checked
# next. The expected owner is the owner of the job's script: root, or in a rehearsal, the only account. `whole`
# completes a tree: it makes root the owner of the tree, lets every account read the tree, removes set-ID bits, and
# flushes the tree to disk. `whole` then marks the tree as verified and flushed, as `publish-tree` requires. find(1):
# -user also accepts a numeric user ID.
#
# Uses ../../../node/shell/flush.sh
# Needs staging: the tree's staging folder
# Needs digest: the tree's digest
# Prints: nothing
owned() {
  must chown "$R/usr/sbin/chown" -R root:wheel "$1"
  x=$("$R/usr/bin/stat" -f %u "$d/run")
  if ! x=$("$R/usr/bin/find" "$1" ! -user "$x") || [ -n "$x" ]; then
    failed chown 'chown reported success, but not all files belong to root'
  fi
}
whole() {
  owned "$staging"
  must chmod "$R/bin/chmod" -R u+rwX,go+rX,go-w,ug-s "$staging/tree"
  if ! x=$("$R/usr/bin/find" "$staging/tree" ! -type l '(' -perm -020 -o -perm -002 ')') || [ -n "$x" ]; then
    failed chmod 'chmod reported success, but other accounts may still write'
  fi
  flush_tree "$staging/tree"
  printf '%s flushed\n' "$digest" >"$staging/verified.new" || failed write 'the mark of the verification could not be written'
  must mv "$R/bin/mv" -f "$staging/verified.new" "$staging/verified"
}
