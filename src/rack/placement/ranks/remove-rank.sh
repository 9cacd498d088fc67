# Takes away everything of a rank: service, service file with its seal, record, logs. It must not be running.
#
# Uses ../../../node/shell/service.sh
# Words: files and folders of the rank
# Prints: @changed or @unchanged; fails with still-running
y=
if look; then
  [ -z "$pid" ] || failed still-running "it is running as process $pid"
  bootout
  y=1
fi
for f in "$@"; do
  [ -e "$f" ] || continue
  must rm "$R/bin/rm" -rf "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed
