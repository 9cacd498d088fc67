# `family PROCESS` prints the numbers of all processes that a process has started, directly or through others.
#
# Prints: nothing
family() {
  "$R/bin/ps" -ax -o pid= -o ppid= 2>/dev/null | "$R/usr/bin/awk" -v top="$1" '{ parent[$1] = $2 }
END { for (one in parent) { up = one; n = 0; while (up in parent && n++ < 64) { up = parent[up]; if (up == top) { print one; break } } } }'
}
