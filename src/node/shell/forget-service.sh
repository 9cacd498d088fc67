# `forget_service TRACE …` unloads the service `$L`, removes its files and folders, and leaves in `y` whether there were
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
