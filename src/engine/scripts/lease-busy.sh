# `isbusy FOLDER …` succeeds if a script is still running under one of these leases, even after its connection is lost.
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
