# Publishes a staged tree with a single rename, so the tree appears either complete or not at all. Only a tree that a
# job has verified is published, and all of its files are flushed to disk before the seal is written. A published tree
# that is still intact is kept. A published tree that has changed is moved away first, and its files are deleted after
# the new tree is in place. The tree's staging folder and job folders are also removed.
#
# Uses sealed-tree.sh
# Uses ../peers/exchange-keys.sh
# Uses ../../../node/shell/job-folders.sh
# Uses ../../../node/shell/flush.sh
# Needs staging: the tree's staging folder
# Needs published: the tree's final folder
# Needs digest: the tree's digest
# Needs is_model: 1 for a model, whose seal records the total size of all files; a runtime's seal lists the packages
# instead
# Arguments: the keys of the jobs that made the tree
# Prints: @changed or @unchanged; fails with not-verified, read, not-intact
stagings=${staging%/*}
tidy() {
  revoke "${stagings%/*}/peers/${staging##*/}"
  "$R/bin/rm" -rf "$staging" "${stagings%/*}/peers/${staging##*/}" "$stagings/.replaced"-* "$stagings/.removed"-*
  for k in "$@"; do cleared "$k"; done
}
if intact "$published" "$digest"; then
  tidy "$@"
  unchanged
fi
x=''
[ ! -e "$staging/verified" ] || IFS= read -r x <"$staging/verified"
if [ "${x% flushed}" != "$digest" ] || [ ! -d "$staging/tree" ]; then
  failed not-verified 'the staged tree has not been verified'
fi
"$R/bin/rm" -rf "$stagings/.replaced"-* "$stagings/.removed"-*
# A job that an older version of meshwright started did not flush its tree.
[ "$x" != "$digest" ] || flush_tree "$staging/tree"
y=''
if [ -e "$staging/libraries" ]; then
  [ -f "$staging/libraries" ] || failed read 'the list of libraries is not a file'
  while IFS= read -r x; do y=$y$x$N; done <"$staging/libraries" || failed read 'the list of libraries could not be read'
fi
if [ -n "$is_model" ] && x=$("$R/usr/bin/find" "$staging/tree" -type f ! -name .meshwright-files -exec "$R/usr/bin/stat" -f %z '{}' +); then
  y="bytes=$(printf '%s\n' "$x" | "$R/usr/bin/awk" '{ s += $1 } END { printf "%.0f", s }')$N"
fi
seal "$staging/tree" "$digest" "$y"
must mkdir "$R/bin/mkdir" -p "${published%/*}"
g=$stagings/.replaced-$$
[ ! -e "$published" ] || must mv "$R/bin/mv" -f "$published" "$g"
must mv "$R/bin/mv" -f "$staging/tree" "$published"
intact "$published" "$digest" || failed not-intact 'the tree changed while it was published'
tidy "$@"
changed
