# Serves the controller's files to other Macs while these files are still arriving on this Mac, and waits until all
# files have arrived. The files still belong to the SSH user, so none of them has been checked yet. Without an exchange
# plan, does nothing.
#
# Uses peers.sh
# Uses ../../../node/shell/refuse-root.sh
# Needs staging: the tree's staging folder
# Needs total: the total size of all files in bytes
# Needs tenths: the timeout for receiving new bytes, in tenths of a second
# Prints: nothing; fails with not-arriving
arrived() {
  "$R/usr/bin/find" "$staging/tree" -type f ! -name '*.part' ! -name '*.clone' ! -name .meshwright-files -exec "$R/usr/bin/stat" -f %z '{}' + | "$R/usr/bin/awk" '{ s += $1 } END { printf "%.0f", s }'
}
if [ -n "$plan" ] && [ -d "$staging/tree" ]; then
  refuse_root "$peer_account"
  # Without perl, this Mac serves nothing, and the next run sends the files to the other Macs.
  if has_perl; then start_peer "$staging/tree"; else plan=''; fi
  k=0 b=-1
  while n=$(arrived) && [ "$n" -lt "$total" ]; do
    k=$((k + 5))
    if [ "$n" -ne "$b" ]; then k=0 b=$n; fi
    [ "$k" -lt "$tenths" ] || failed not-arriving "only $n of $total bytes have arrived"
    progress "$n" "$total"
    "$R/bin/sleep" 0.5
  done
fi
