# `programs FOLDER PROGRAM …` fails with no-program unless FOLDER contains all of these programs.
#
# Prints: nothing
programs() {
  p=$1
  shift
  for k in "$@"; do
    if [ ! -f "$p/$k" ] || [ ! -x "$p/$k" ]; then failed no-program "$k is not a program of this version"; fi
  done
}
