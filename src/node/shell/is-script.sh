# `isscript MARK` says whether the script that left this mark still runs. The process number of a mark that was left
# behind may belong to another program by now, such as `ssh -s`.
#
# Prints: nothing
isscript() {
  case ${1##*.} in ('' | *[!0-9]*) return 1 ;; esac
  case $("$R/bin/ps" -ww -o command= -p "${1##*.}" 2>/dev/null) in ('sh -s' | */sh' -s') return 0 ;; esac
  return 1
}
