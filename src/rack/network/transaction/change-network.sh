# Saves the network, arms the rollback, and only then changes the network; the first half of a transaction. What fails
# is put back at once, unless its script says with exit 3 that the rest is to stand; what had nothing to change is disarmed.
# Otherwise the rollback stays armed, and the node waits for the second half.
#
# Functions before it: `save` saves what is touched into the folder `$q`, `part` leaves marks for the keeper there, `change`
# is the script that changes the network, and `putback` restores what was saved.
#
# Uses arm.sh
# Uses ../../../node/shell/network-setup.sh
# Needs restore: the script that puts back what is saved
# Needs known: what is known of the transaction, lines for its file `about`
# Prints: what the change prints; fails with rollback-pending
if [ -e "$rb/pending" ] || [ -e "$rb/rolling" ]; then
  failed rollback-pending 'another network change is to be settled first'
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
