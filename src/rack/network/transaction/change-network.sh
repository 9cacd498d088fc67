# In the first half of a transaction, saves the network settings, arms the rollback, and only then changes the network.
# A failed change is rolled back immediately, unless its script exits with 3 to keep the other changes. If nothing had
# to be changed, the rollback is disarmed. Otherwise, the rollback stays armed, and the node waits for the second half.
#
# The caller defines these functions: `save` saves the old settings in the `$q` folder, `part` writes marks for the
# keeper to that folder, `change` changes the network, and `putback` restores the saved settings.
#
# Uses arm.sh
# Uses ../../../node/shell/network-setup.sh
# Needs restore: the script that restores the saved settings
# Needs known: the lines of the transaction's `about` file that the run already knows
# Prints: the change's output; fails with transaction-pending
if [ -e "$rb/pending" ] || [ -e "$rb/rolling" ]; then
  failed transaction-pending 'a previous network change must be settled first'
fi
drop_outdated
"$R/bin/rm" -rf "${rb:?}"
q="$rb/new.$$"
must mkdir "$R/bin/mkdir" -p "$q"
save
write "$q/restore" "$restore"
write "$q/about" "${known}boot=$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)${N}since=$("$R/bin/date" -u +%s)${N}pid=$$$N"
part
arm "$q"
e=$(change)
rc=$?
printf '%s\n' "$e"
case $rc:$e in
  (0:*@changed | 3:*) write "$rb/pending/verdict" "$rc$N" ;;
  (0:*@unchanged) unarm ;;
  (*) if claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  fi ;;
esac
exit "$rc"
