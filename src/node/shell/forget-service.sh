# `forget_service FILE …` unloads the `$L` service and removes its files and folders. It sets `y` to 1 if it unloaded or
# removed anything.
#
# Uses service.sh
# Uses remove-files.sh
# Prints: nothing
forget_service() {
  y=''
  if look; then
    bootout
    y=1
  fi
  remove_files "$@"
}
