# Prevents Time Machine from making automatic backups; existing backups are kept. Both running tmutil and reading the
# setting require Full Disk Access. tmutil(8): disable.
#
# Needs settings: Time Machine's preference domain
# Prints: @changed or @unchanged; fails with no-full-disk-access, defaults, tmutil
isoff() {
  [ ! -e "$settings.plist" ] || { true <"$settings.plist"; } 2>/dev/null || failed no-full-disk-access 'the settings of Time Machine cannot be read'
  if o=$("$R/usr/bin/defaults" read "$settings" AutoBackup 2>&1); then [ "$o" = 0 ]; return; fi
  case $o in (*'does not exist'*) ;; (*) failed defaults "$o" ;; esac
}
isoff && unchanged
must tmutil "$R/usr/bin/tmutil" disable
isoff || failed tmutil 'tmutil reported success, but the setting did not change'
changed
