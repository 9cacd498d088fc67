# `forget_service TRACE …` makes launchd forget the service `$L`, takes its files and folders away, and leaves in `y`
# whether there was anything.
#
# Uses service.sh
# Prints: nothing
forget_service() {
  y=''
  if look; then
    bootout
    y=1
  fi
  for f in "$@"; do
    [ -e "$f" ] || continue
    must rm "$R/bin/rm" -rf "$f"
    y=1
  done
}
