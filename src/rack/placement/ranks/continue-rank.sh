# Resumes the processes of a rank that a signal has suspended (SIGSTOP, or a debugger). They keep their memory and their
# connections, so no request is lost.
#
# Uses ../../../node/shell/service.sh
# Prints: @changed or @unchanged; fails with not-loaded, still-suspended
suspended() {
  F=$("$R/bin/ps" -ax -o pid= -o pgid= -o stat= | "$R/usr/bin/awk" -v "group=$pid" '$2 == group && $3 ~ /^T/ { printf "%s ", $1 }')
  [ -n "$F" ]
}
look || failed not-loaded 'launchd does not have the service'
[ -n "$pid" ] || failed not-loaded 'the service has no process'
suspended || unchanged
for p in $F; do kill -s CONT "$p" 2>/dev/null; done
n=0
while suspended; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed still-suspended "still suspended after SIGCONT: ${F% }"
  "$R/bin/sleep" 0.25
done
changed
