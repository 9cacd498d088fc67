# Sets the Mac's names; names that are not given remain unchanged. scutil(8): --get, --set.
#
# Arguments: each name's key in scutil, followed by its new value
# Prints: @changed or @unchanged; fails with scutil
y=''
while [ "$#" -gt 0 ]; do
  if [ "$("$R/usr/sbin/scutil" --get "$1" 2>/dev/null)" != "$2" ]; then
    must scutil "$R/usr/sbin/scutil" --set "$1" "$2"
    [ "$("$R/usr/sbin/scutil" --get "$1" 2>/dev/null)" = "$2" ] || failed scutil "scutil reported success, but the $1 did not change"
    y=1
  fi
  shift 2
done
[ -n "$y" ] || unchanged
changed
