# `arm FOLDER` installs the daemon that rolls back a network change, makes FOLDER the pending transaction, waits until
# the keeper is idle, starts the daemon (whose timeout begins then), and waits until the daemon is running. If any of
# these steps fails, no transaction is pending. `disarm` removes the daemon. Only the process that claimed the
# transaction may call `disarm`, because the daemon may have claimed the transaction first. `unarm` abandons a
# transaction that changed nothing. `plist` prints the daemon's property list, in which paths have the script's root
# prefix. `drop_outdated` deletes the keeper's data if the change in `$rb/confirmed` made it outdated; only the process
# that won the rename may decide that. Until the data is deleted, the `$outdated_mark` file stops the keeper. If a run
# dies before the deletion, the next change or the keeper itself deletes the data.
#
# Uses transaction.sh
# Uses quiet.sh
# Needs roll: the text of the daemon's script
# Needs transaction_plist: the path of the daemon's property list, which exists only while a change waits for its
# confirmation
# Needs keeper_data: the keeper's data file
# Needs outdated_mark: the file in the confirmed change that marks this data as outdated
# Prints: nothing; fails with not-armed, transaction-pending, launchctl
tag() {
  printf '<%s>%s<\057%s>' "$1" "$2" "$1"
}
plist() {
  y=$(tag array "$(tag string "$R/bin/sh")$(tag string "$rb/roll")")
  y=$(tag key Label)$(tag string "$label")$(tag key RunAtLoad)'<true/>'$(tag key ProgramArguments)$y
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">%s<\057plist>\n' "$(tag dict "$y")"
}
disarm() {
  "$R/bin/rm" -f "$transaction_plist"
  look && bootout
  :
}
unarm() {
  claim "$rb/pending" "$rb/unarmed" || return
  disarm
}
unarmed() {
  unarm
  failed not-armed "$1"
}
drop_outdated() {
  [ ! -e "$outdated_mark" ] || "$R/bin/rm" -f "$keeper_data" "$outdated_mark"
}
arm() {
  write "$rb/roll" "$roll"
  look && bootout
  write "$transaction_plist" "$(plist)$N"
  must chown "$R/usr/sbin/chown" root:wheel "$transaction_plist"
  must chmod "$R/bin/chmod" 644 "$transaction_plist"
  claim "$1" "$rb/pending" || failed transaction-pending 'a previous network change must be settled first'
  quiet || unarmed 'the keeper does not stand still'
  o=$("$R/bin/launchctl" enable "system/$label" 2>&1) || unarmed "$o"
  n=0
  until e=$("$R/bin/launchctl" bootstrap system "$transaction_plist" 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || unarmed "$e"
    "$R/bin/sleep" 2
  done
  n=0
  until look && [ -n "$pid" ]; do
    n=$((n + 1))
    [ "$n" -lt 20 ] || unarmed 'launchd does not start the rollback'
    "$R/bin/sleep" 0.1
  done
}
