# Deletes versions of a runtime, each identified by the digits that its folder is named after, but never the current
# version. A version's folder is renamed before its files are deleted.
#
# Needs versions: the folder that contains all versions of the runtime
# Needs opt: the folder that contains all runtimes and models
# Arguments: the folder names
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
