# `end_preparations FOLDER` stops every process of a placement's `prepare` on this Mac, even if it has outlived its job:
# with TERM, and after ten seconds with KILL. FOLDER is the placement's folder. The parent of the account's program is a
# shell with this folder in its command line.
#
# Uses process-family.sh
# Prints: nothing; fails with still-running
preparing() {
  "$R/bin/ps" -ax -ww -o pid= -o command= 2>/dev/null |
    MESHWRIGHT_PREPARE="meshwright-prepare:$1/" "$R/usr/bin/awk" 'index($0, ENVIRON["MESHWRIGHT_PREPARE"]) { print $1 }'
}
end_preparations() {
  n=0 c=''
  while :; do
    for q in $(preparing "$1"); do c="$c $q $(family "$q")"; done
    pressed 'an earlier prepare' || return 0
  done
}
