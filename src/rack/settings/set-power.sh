# Sets when the Mac sleeps and whether it starts automatically when power returns. pmset reports nothing useful, so the
# script reads the settings back; powerd may need a moment to apply them. pmset(1): `-c` applies to mains power, which
# every Mac except a laptop always has; `autorestart` applies after a power loss.
#
# Arguments: each setting's key in pmset, followed by its value
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
