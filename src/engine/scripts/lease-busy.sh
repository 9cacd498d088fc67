# `isbusy FOLDER …` says whether a script of these leases still runs, whatever became of its connection.
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
