# `isbusy FOLDER …` succeeds if a script is still running under any of the leases in these folders, even if the script's
# connection has been lost.
#
# Uses ../../node/shell/is-script.sh
# Prints: nothing
isbusy() {
  for x; do
    for k in "$x/busy."*; do
      if isscript "$k"; then return 0; fi
    done
  done
  return 1
}
