/**
 * Functions of sh, without a fork unless the current folder seems to lie outside: `inside PATH ...` ends the tool
 * with 1 when a path leads out of the node's root (a current folder that is gone leads nowhere, which the tool itself
 * will say), `readable` also takes the devices of the strict shell,
 * `after COUNT FUNCTION ARGUMENT ...` applies one of them behind so many arguments, `starts` checks a utility.
 */
export const insideFunctions = `outside() {
  printf '%s\\n' "\${0#"$R"} $l" >>"$R/.sim/unknown"
  printf '%s: %s: %s\\n' "\${0##*/}" "$1" "simulated: below this node's root only" >&2
  exit 1
}
here() {
  case $PWD in ("$R" | "$R"/*) return ;; esac
  q=$(CDPATH= cd -- "$R" && pwd -P)
  p=$(pwd -P 2>/dev/null)
  case $p/ in (/ | "$q"/*) ;; (*) outside "$1" ;; esac
}
inside() {
  for q; do
    case /\${q#"$R"/}/ in (*/../*) outside "$q" ;; esac
    case $q in ("$R" | "$R"/* | -) ;; (/*) outside "$q" ;; (*) here "$q" ;; esac
  done
}
readable() {
  for q; do
    case $q in (/dev/null | /dev/zero | /dev/random | /dev/urandom | /dev/stdout | /dev/stderr) ;; (*) inside "$q" ;; esac
  done
}
after() {
  [ $# -gt $(($1 + 2)) ] || return 0
  z=$2
  shift $(($1 + 2))
  "$z" "$@"
}
starts() {
  while :; do
    case \${1-} in
      (PATH=*) v=\${1#PATH=}
        while [ -n "$v" ]; do
          inside "\${v%%:*}"
          case $v in (*:*) v=\${v#*:} ;; (*) v= ;; esac
        done
        bare= ; shift ;;
      (*=*) shift ;;
      (*/*) inside "$1"; return ;;
      (?*) [ -z "\${bare-}" ] || outside "$1"; return ;;
      (*) return 0 ;;
    esac
  done
}
`;
