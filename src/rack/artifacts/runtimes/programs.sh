# `programs FOLDER PROGRAM …` fails with no-program unless all of these are programs in a folder.
#
# Prints: nothing
programs() {
  p=$1
  shift
  for k in "$@"; do
    if [ ! -f "$p/$k" ] || [ ! -x "$p/$k" ]; then failed no-program "$k is not a program of this version"; fi
  done
}
