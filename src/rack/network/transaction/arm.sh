# `arm FOLDER` writes the daemon that takes a change of the network back, makes the folder the pending transaction, waits
# until the keeper stands still, starts the daemon, whose time begins then, and waits until it runs; with anything of that
# missing nothing is pending. `disarm` takes the daemon away: only for who has claimed, since the daemon may be the one who
# did. `unarm` gives up what nothing was changed under. `plist` prints the property list of the daemon, with the root that
# the script has. `drop_outdated` takes away what the keeper keeps, where the change in `$rb/confirmed` made it outdated: only
# whoever won the rename may say so. Until it is gone the mark keeps the keeper from doing anything, and the next change, or
# the keeper itself, takes it away for a run that died here.
#
# Uses rollback.sh
# Uses quiet.sh
# Needs roll: the text of the daemon
# Needs rollback_plist: where its property list is, only while a change waits for its confirmation
# Needs keeper_data: what the keeper keeps
# Needs outdated_mark: says that it is outdated, in the confirmed change
# Prints: nothing; fails with not-armed, rollback-pending, launchctl
tag() {
  printf '<%s>%s<\057%s>' "$1" "$2" "$1"
}
plist() {
  y=$(tag array "$(tag string "$R/bin/sh")$(tag string "$rb/roll")")
  y=$(tag key Label)$(tag string "$label")$(tag key RunAtLoad)'<true/>'$(tag key ProgramArguments)$y
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">%s<\057plist>\n' "$(tag dict "$y")"
}
disarm() {
  "$R/bin/rm" -f "$rollback_plist"
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
  write "$rollback_plist" "$(plist)$N"
  must chown "$R/usr/sbin/chown" root:wheel "$rollback_plist"
  must chmod "$R/bin/chmod" 644 "$rollback_plist"
  claim "$1" "$rb/pending" || failed rollback-pending 'another network change is to be settled first'
  quiet || unarmed 'the keeper does not stand still'
  o=$("$R/bin/launchctl" enable "system/$label" 2>&1) || unarmed "$o"
  n=0
  until e=$("$R/bin/launchctl" bootstrap system "$rollback_plist" 2>&1) || look; do
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
