# `must SLUG COMMAND …` runs a tool, and fails with SLUG if the tool's exit code is not 0. For tools that change files,
# exit code 0 is not enough: `tookeffect` also checks the results of rm, rmdir, mv, mkdir, ln, cp and chmod (with a
# numeric mode). The owner that chown sets is not checked, because a simulation has only one account. `must` sets `o` to
# the tool's output. The calling script defines the `failed` function.
#
# Prints: nothing
tookeffect() {
  c=${1##*/} m=$2 p=''
  shift
  for q in "$@"; do
    case $c$m$p:$q in
      (rm-*:/* | rmdir/*:/* | mv-f:/* | mv-fh:/*) [ ! -e "$q" ] && [ ! -h "$q" ] ;;
      (mkdir*:/*) [ -d "$q" ] ;;
      (chmod[0-7]*:/*) [ "$("$R/usr/bin/stat" -f %Lp "$q")" = "$m" ] ;;
    esac || return
    case $q in (/*) p=/ ;; esac
  done
  case $c in (ln | cp) [ -e "$q" ] || [ -h "$q" ] ;; esac
}
must() {
  m=$1
  shift
  o=$({ "$@" && { tookeffect "$@" || { printf '%s reported success and changed nothing: %s' "${1##*/}" "$q"; false; }; }; } 2>&1) && return
  x=$?
  failed "$m" "${o:-${1##*/} ended with $x}"
}
