# Verifies every staged file that the controller has sent, while only root can change the file. Wrong files are deleted,
# so the controller sends them again; correct files are kept. If other Macs take part, this Mac serves the files to
# them.
#
# Uses ../peers/arriving-files.sh
# Uses ../trees/staged-files.sh
# Arguments: each file's path, sha256 and size
# Prints: nothing; fails with not-arriving, or with wrong-digest and the name of the first wrong file
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
