# Prevents macOS from installing its own updates automatically. `defaults` reports nothing useful, so the script reads
# the key back.
#
# Needs settings: Software Update's preference domain
# Needs key: the setting's key
# Prints: @changed or @unchanged; fails with defaults
isoff() {
  [ "$("$R/usr/bin/defaults" read "$settings" "$key" 2>/dev/null)" = 0 ]
}
isoff && unchanged
must defaults "$R/usr/bin/defaults" write "$settings" "$key" -bool false
isoff || failed defaults 'defaults reported success, but the setting did not change'
changed
