# Deletes versions of a runtime, each by the digits that name its folder; never the current one. A version is renamed
# away before its files are deleted.
#
# Needs versions: the folder of all versions of the runtime
# Needs opt: the folder of all runtimes and models
# Words: the names of the folders
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
