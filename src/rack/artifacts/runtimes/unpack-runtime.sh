# Verifies the sha256 of a runtime's archive while only root can change the archive, and then unpacks the archive. An
# archive of a llama.cpp release contains a single folder named after the release (.github/workflows/release.yml, "Pack
# artifacts").
#
# Uses unpack.sh
# Uses programs.sh
# Needs bin_has: a program; if exactly one folder in the archive contains this program, `bin` becomes a link to that
# folder
# Needs extras: the number of the runtime's extra files
# Arguments: the name and sha256 of each extra file, then the programs that the runtime must contain
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
