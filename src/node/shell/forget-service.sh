# `forget_service TRACE …` makes launchd forget the service `$L`, takes its files and folders away, and leaves in `y`
# whether there was anything.
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
