# Removes the file that keeps a placement closed.
#
# Arguments: the file and its seal
# Prints: @changed or @unchanged
y=''
for f in "$@"; do
  [ -e "$f" ] || continue
  must rm "$R/bin/rm" -f "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed
