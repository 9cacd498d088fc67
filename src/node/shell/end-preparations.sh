# `end_preparations FOLDER` stops all processes of a placement's `prepare` command on this Mac, even processes that
# outlived their job. It sends SIGTERM, and after ten seconds SIGKILL. FOLDER is the placement's folder, which
# identifies these processes: the shell that runs the account's program has this folder in its command line.
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
