# Sets when the Mac sleeps and whether it starts by itself when power returns. pmset reports nothing useful, so the script
# reads the settings again; powerd may need a moment. pmset(1): `-c` for mains power, which all Macs but laptops always
# have; `autorestart` after a power loss.
#
# Words: each setting's key in pmset, followed by its number
# Prints: @changed or @unchanged; fails with pmset
isset() {
  o=$N$("$R/usr/bin/pmset" -g custom | "$R/usr/bin/awk" '/^[A-Z].* Power:$/ { a = $0 == "AC Power:"; next } a { print $1 " " $2 }')$N
  while [ "$#" -gt 0 ]; do
    case $o in (*"$N$1 $2$N"*) ;; (*) return 1 ;; esac
    shift 2
  done
}
isset "$@" && unchanged
must pmset "$R/usr/bin/pmset" -c "$@"
n=0
until isset "$@"; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed pmset 'pmset reported success, but the settings did not change'
  "$R/bin/sleep" 0.25
done
changed
