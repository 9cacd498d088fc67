# `end_preparations FOLDER` stops every process of a placement's `prepare` on this Mac, whichever job started it, also one
# that outlived its job: with TERM, and after ten seconds with KILL. FOLDER is the placement's. A shell with this folder in
# its command line is the parent of the account's program.
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
