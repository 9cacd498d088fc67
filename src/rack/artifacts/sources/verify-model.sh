# Compares every staged file that the controller has sent, at a time when only root can change the file. Wrong files are
# deleted, so that they are sent again; the others are kept. If other Macs take part, this one serves the files to them.
#
# Uses ../peers/arriving-files.sh
# Uses ../trees/staged-files.sh
# Words: each file's path, sha256 and size
# Prints: nothing; fails with not-arriving, and with wrong-digest and the first wrong file
w=''
while [ "$#" -gt 0 ]; do
  if ischecked "$1" "$2" "$3"; then
    passed "$@"
  elif compare "$t/$1" "$2" "$3"; then
    checked "$@"
  else
    "$R/bin/rm" -f "$t/$1"
    w=${w:-$1}
  fi
  shift 3
done
[ -z "$w" ] || failed wrong-digest "$w"
only
listed
whole
[ -z "$plan" ] || finish_peer
