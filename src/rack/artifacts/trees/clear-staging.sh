# Removes staging folders and job folders that are no longer needed, together with uv's unfinished builds for these
# staging folders. A running job's folder and the staging folder of its tree are kept. A staging folder is renamed
# before its files are deleted. Once no job exchanges a model, other Macs lose their ssh access for this exchange.
#
# Uses ../../../node/shell/job-folders.sh
# Uses ../peers/exchange-keys.sh
# Needs opt: the folder that contains all runtimes and models
# Arguments: the names of staging folders and the keys of jobs
# Prints: @changed or @unchanged
stagings=$opt/staging
y=''
"$R/bin/rm" -rf "$stagings/.removed"-*
isused() {
  for j in "$b/ops/"*; do
    [ -e "$j/job" ] || continue
    [ ! -e "$j/rc" ] || continue
    isrunning "$j" || continue
    while IFS= read -r x; do
      case $x in ("tree=$1" | "tree=$1 $2") return 0 ;; esac
    done <"$j/job"
  done
  return 1
}
istaken() {
  x=${1#*-}
  isused "${1%%-*} ${x%-*}" "${1##*-}"
}
gone() {
  [ -d "$stagings/$1" ] || return 0
  istaken "$1" && return
  revoke "$opt/peers/$1"
  must rm "$R/bin/rm" -rf "$opt/builds/$1".* "$opt/peers/$1"
  g=$stagings/.removed-$$-$1
  must mv "$R/bin/mv" -f "$stagings/$1" "$g"
  must rm "$R/bin/rm" -rf "$g"
  y=1
}
for k in "$@"; do
  case $k in (*-*) gone "$k" ;; (*) cleared "$k" && y=1 ;; esac
done
for k in "$opt/peers/"*/granted; do
  k=${k%/granted}
  [ ! -e "$k/granted" ] || istaken "${k##*/}" || revoke "$k"
done
[ -n "$y" ] || unchanged
changed
