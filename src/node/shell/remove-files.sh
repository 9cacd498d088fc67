# `remove_files FILE …` removes files and folders, and sets `y` to 1 if any of them existed.
#
# Prints: nothing
remove_files() {
  for f in "$@"; do
    [ -e "$f" ] || continue
    must rm "$R/bin/rm" -rf "$f"
    y=1
  done
}
