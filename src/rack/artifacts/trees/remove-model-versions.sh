# Deletes versions of a model, each given by the digits in its folder's name. The seal is deleted first, so that after
# an interruption the rest of a version does not count as intact and the next run deletes it. A version is kept if a
# process has its path in its arguments. Everything outside the models' folder is also kept: links are never followed.
#
# Needs models: the folder with all models
# Needs versions: the folder with all versions of the model
# Needs seal: the seal's name
# Words: the folders' names
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
