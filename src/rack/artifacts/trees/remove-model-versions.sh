# Deletes versions of a model, each identified by the digits that its folder is named after. The seal is deleted first,
# so if the deletion is interrupted, the remains of the version do not count as intact, and the next run deletes them.
# If the path of a version appears in the command line of a process, the version is kept and the script fails. Nothing
# outside the models' folder is deleted, because links are never followed.
#
# Needs models: the folder that contains all models
# Needs versions: the folder that contains all versions of the model
# Needs seal: the file name of the seal
# Arguments: the folder names
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
