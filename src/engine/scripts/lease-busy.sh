# `isbusy FOLDER …` succeeds if a script of one of these leases is still running, even if its connection is gone.
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
