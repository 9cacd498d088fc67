# Removes a rank that is not running: its service, service file, seal, record and logs.
#
# Uses ../../../node/shell/service.sh
# Uses ../../../node/shell/remove-files.sh
# Uses ../../../node/shell/end-preparations.sh
# Needs folder: the placement's folder
# Arguments: the rank's files and folders
# Prints: @changed or @unchanged; fails with still-running
y=
if look; then
  [ -z "$pid" ] || failed still-running "it is running as process $pid"
  bootout
  y=1
fi
end_preparations "$folder"
remove_files "$@"
[ -n "$y" ] || unchanged
changed
