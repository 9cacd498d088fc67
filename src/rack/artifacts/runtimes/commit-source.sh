# `unpack_commit` checks the SHA-256 of a commit's archive, unpacks the archive into `$build/source` as the ranks'
# account, and sets `k` to the archive's only folder.
#
# Uses ../../../node/shell/as-account.sh
# Uses ../../../node/shell/sha256.sh
# Needs source: the commit's archive
# Needs source_digest: the archive's sha256
# Prints: nothing; fails with no-archive, shasum, wrong-digest, bad-archive
unpack_commit() {
  if [ ! -f "$source" ] || [ -h "$source" ]; then failed no-archive 'the archive of the commit is missing'; fi
  x=$(sha256 <"$source") || failed shasum 'the sha256 of the archive could not be read'
  [ "$x" = "$source_digest" ] || failed wrong-digest "the archive of the commit has the sha256 $x"
  must cp "$R/bin/cp" "$source" "$build/source.tar.gz"
  must chown "$R/usr/sbin/chown" "$account" "$build/source.tar.gz"
  x=$(as_account "$R/bin/mkdir" "$build/source" 2>&1 && as_account "$R/usr/bin/tar" -xf "$build/source.tar.gz" -C "$build/source" 2>&1) || failed bad-archive "$x"
  k=''
  for x in "$build/source"/*; do
    [ -z "$k" ] || failed bad-archive 'the archive of the commit has more than one folder'
    k=$x
  done
}
