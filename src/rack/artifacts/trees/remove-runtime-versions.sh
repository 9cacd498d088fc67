# Deletes versions of a runtime, each given by the digits in its folder's name, but never the current one. A version is
# renamed before its files are deleted.
#
# Needs versions: the folder with all versions of the runtime
# Needs opt: the folder with all runtimes and models
# Words: the folders' names
# Prints: @changed or @unchanged; fails with current-version
y='' c=''
[ ! -h "$versions/current" ] || c=$("$R/usr/bin/readlink" "$versions/current")
for k in "$@"; do
  [ "$k" != "$c" ] || failed current-version "version $k is the current one"
  [ -d "$versions/$k" ] || continue
  g=$opt/staging/.removed-$$-$k
  must mkdir "$R/bin/mkdir" -p "${g%/*}"
  must mv "$R/bin/mv" -f "$versions/$k" "$g"
  must rm "$R/bin/rm" -rf "$g"
  y=1
done
[ -n "$y" ] || unchanged
changed
