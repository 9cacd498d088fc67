# `owned FOLDER` gives a folder to root. A volume that ignores owners lets chown succeed and changes nothing: then the
# account could still write what is compared next. The job's own text belongs to root, in a rehearsal to the one account
# there is. `whole` ends the making of a tree: all below belongs to root, every account can read it, and no
# program in it runs as another account; a mark says that the tree was compared, which `publish-tree` asks for. find(1): -user takes a number, too.
#
# Needs staging: the folder of all that belongs to the making of the tree
# Needs digest: of the tree
# Prints: nothing
owned() {
  must chown "$R/usr/sbin/chown" -R root:wheel "$1"
  x=$("$R/usr/bin/stat" -f %u "$d/run")
  if ! x=$("$R/usr/bin/find" "$1" ! -user "$x") || [ -n "$x" ]; then
    failed chown 'chown reported success, and not all files were seen to belong to root'
  fi
}
whole() {
  owned "$staging"
  must chmod "$R/bin/chmod" -R u+rwX,go+rX,go-w,ug-s "$staging/tree"
  if ! x=$("$R/usr/bin/find" "$staging/tree" ! -type l '(' -perm -020 -o -perm -002 ')') || [ -n "$x" ]; then
    failed chmod 'chmod reported success, and other accounts may still write'
  fi
  printf '%s\n' "$digest" >"$staging/verified.new" || failed write 'the mark of the verification could not be written'
  must mv "$R/bin/mv" -f "$staging/verified.new" "$staging/verified"
}
