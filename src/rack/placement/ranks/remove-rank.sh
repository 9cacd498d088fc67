# Takes away everything of a rank: service, service file with its seal, record, logs. It must not be running.
#
# Uses ../../../node/shell/service.sh
# Uses ../../../node/shell/remove-files.sh
# Words: files and folders of the rank
# Prints: @changed or @unchanged; fails with still-running
y=
if look; then
  [ -z "$pid" ] || failed still-running "it is running as process $pid"
  bootout
  y=1
fi
remove_files "$@"
[ -n "$y" ] || unchanged
changed
