# `forget_service TRACE …` unloads the service `$L` and removes its files and folders. It sets `y` to 1 if there were
# any.
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
