# Downloads a macOS update. The tool prints percentages while it downloads; the job's progress is this share of the size
# in the tool's list. softwareupdate(8): --download, --list, --no-scan.
#
# Needs label: the update's label
# Prints: nothing; fails with update-failed and the tool's output
o=$d/said
total=$("$R/usr/sbin/softwareupdate" --list --no-scan 2>/dev/null | "$R/usr/bin/awk" -v label="* Label: $label" '
$0 == label { own = 1; next }
own { if (match($0, /Size: [0-9]+KiB/)) printf "%.0f", substr($0, RSTART + 6, RLENGTH - 9) * 1024; exit }')
[ -z "$total" ] || progress 0 "$total"
"$R/usr/sbin/softwareupdate" --download "$label" </dev/null >"$o" 2>&1 &
c=$!
while kill -0 "$c" 2>/dev/null; do
  x=$("$R/usr/bin/awk" -v total="${total:-0}" '
{ while (match($0, /[0-9]+(\.[0-9]+)?%/)) { n = substr($0, RSTART, RLENGTH - 1); $0 = substr($0, RSTART + RLENGTH) } }
END { if (n != "" && total > 0) printf "%.0f", n / 100 * total }' "$o")
  [ -z "$x" ] || progress "$x" "$total"
  "$R/bin/sleep" 1
done
wait "$c"
x=$?
y=$("$R/usr/bin/awk" '/^Error|[Ff]ailed/ { print; exit }' "$o")
if [ "$x" -ne 0 ] || [ -n "$y" ]; then failed update-failed "${y:-softwareupdate exited with $x: $("$R/usr/bin/tail" -n 1 "$o")}"; fi
[ -z "$total" ] || progress "$total" "$total"
