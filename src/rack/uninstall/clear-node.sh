# Removes everything that meshwright runs or stores on the node, except for meshwright's own folder: services, job
# processes, runtimes, staging folders and, on request, the models.
#
# Uses ../../node/shell/service.sh
# Uses ../../node/shell/job-folders.sh
# Uses ../../node/shell/process-family.sh
# Needs launch_daemons: the folder that contains the property lists
# Needs opt: the folder that contains the published trees
# Needs opt_parent: the parent of that folder
# Needs opt_before: the baseline file, which contains `missing` if that parent folder did not exist before
# Needs with_models: 1 to remove the models as well
# Arguments: our services' labels
# Prints: @changed or @unchanged; fails with still-running
y=''
# Only our own trees are removed. They are recognized by their names, such as `models/NAME/0123456789abcdef`.
istree() {
  case ${1##*/} in (*[!0-9a-f]*) return 1 ;; (????????????????) ;; (*) return 1 ;; esac
  [ -d "$1" ] && [ ! -h "$1" ]
}
gone() {
  must rm "$R/bin/rm" -rf "$1"
  y=1
}
ended() {
  isrunning "$1" || return 0
  c=$p
  n=0
  while :; do
    # Programs that a job's shell started outlive the shell and run as root, so they must be found while their parent
    # process is still known.
    isrunning "$1" && c="$c $(family "$p")"
    pressed "job ${1##*/}" || return 0
    y=1
  done
}
for f in "$@"; do
  L=system/$f
  if look; then
    bootout
    y=1
  fi
  [ ! -e "$launch_daemons/$f.plist" ] || gone "$launch_daemons/$f.plist"
done
for j in "$b/ops/"*; do
  [ ! -d "$j" ] || ended "$j"
done
for t in "${opt:?}"/* "${opt:?}"/.[!.]*; do
  [ -e "$t" ] || [ -h "$t" ] || continue
  case $t in (*/models) continue ;; esac
  gone "$t"
done
[ -z "$with_models" ] || for t in "${opt:?}/models"/*/*; do
  if istree "$t"; then gone "$t"; fi
done
# Removes the trees' empty folders, and the parent folder if it did not exist before.
"$R/bin/rmdir" "$opt/models"/* "$opt/models" "$opt" 2>/dev/null
if [ ! -e "$opt" ] && [ -e "$opt_before" ]; then
  IFS= read -r x <"$opt_before"
  [ "$x" != missing ] || "$R/bin/rmdir" "$opt_parent" 2>/dev/null
fi
[ -n "$y" ] || unchanged
changed
