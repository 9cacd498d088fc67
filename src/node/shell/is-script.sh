# `isscript MARK` tests whether the script that left this mark is still running. The function also checks the command
# line, because the process ID in an old mark's name may now belong to a different program, such as `ssh -s`.
#
# Prints: nothing
isscript() {
  case ${1##*.} in ('' | *[!0-9]*) return 1 ;; esac
  case $("$R/bin/ps" -ww -o command= -p "${1##*.}" 2>/dev/null) in ('sh -s' | */sh' -s') return 0 ;; esac
  return 1
}
