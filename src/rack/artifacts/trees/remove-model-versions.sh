# Deletes versions of a model, each by the digits that name its folder. The seal goes first, so that after an
# interruption the rest of a version is not intact, and the next run deletes it. A version whose path a process has in
# its arguments stays, and so does everything outside the folder of models: links are never followed.
#
# Needs models: the folder of all models
# Needs versions: the folder of all versions of the model
# Needs seal: the name of the seal
# Words: the names of the folders
# Prints: @changed or @unchanged; fails with odd-link, ps, in-use
y=''
for k in "$models" "$versions"; do
  [ ! -h "$k" ] || failed odd-link "$k is a link"
done
x=$("$R/bin/ps" -ww -ax -o command=) || failed ps 'the processes could not be listed'
for k in "$@"; do
  t=$versions/$k
  if [ ! -d "$t" ] || [ -h "$t" ]; then continue; fi
  case $x in (*"$t"*) failed in-use "a process uses version $k" ;; esac
  must rm "$R/bin/rm" -f "$t/$seal"
  must rm "$R/bin/rm" -rf "$t"
  y=1
done
"$R/bin/rmdir" "$versions" 2>/dev/null
[ -n "$y" ] || unchanged
changed
