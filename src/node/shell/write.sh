# `write FILE TEXT` writes a file under a temporary name and renames it.
#
# Uses verdicts.sh
# Uses must.sh
# Prints: nothing
write() {
  o=$({ printf '%s' "$2" >"$1.$$"; } 2>&1) || failed write "${o:-$1 could not be written}"
  must write "$R/bin/mv" -f "$1.$$" "$1"
}
