# Unpacks a runtime's archive after comparing its sha256 at a time when only root can change the archive. llama.cpp
# releases contain a single folder named after the release (.github/workflows/release.yml, "Pack artifacts").
#
# Uses unpack.sh
# Uses programs.sh
# Needs bin_has: a program; if exactly one folder in the archive contains it, that folder is also called bin
# Needs extras: the number of the runtime's other files
# Words: the name and sha256 of each of these files, then the programs that the runtime must have
# Prints: nothing; fails with no-program and the failures of unpack.sh
unpack
while [ "$extras" -gt 0 ]; do
  extra "$1" "$2"
  extras=$((extras - 1))
  shift 2
done
f='' k=0
[ -z "$bin_has" ] || for x in "$new"/*/"$bin_has"; do
  if [ -f "$x" ]; then f=${x%/*} k=$((k + 1)); fi
done
if [ ! -e "$new/bin" ] && [ "$k" -eq 1 ]; then must link "$R/bin/ln" -s "${f##*/}" "$new/bin"; fi
programs "$new" "$@"
finish
