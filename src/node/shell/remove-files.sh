# `remove_files FILE …` removes the files and folders that are there, and sets `y` to 1 if there was one.
#
# Prints: nothing
remove_files() {
  for f in "$@"; do
    [ -e "$f" ] || continue
    must rm "$R/bin/rm" -rf "$f"
    y=1
  done
}
