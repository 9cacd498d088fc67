// Generated from the .sh files of this folder by scripts/generate-node-scripts.mjs; never edited by hand.
import { shellScript } from './shell-script.ts';

/** The scripts of this folder. */
export const sh = {
  jobFolders: shellScript<never>(
    "isrunning() {\n  p=''\n  [ -e \"$1/pid\" ] && IFS= read -r p <\"$1/pid\"\n  case $p in ('' | *[!0-9]*) return 1 ;; esac\n  case $(\"$R/bin/ps\" -ww -o command= -p \"$p\") in (*\"/${1##*/}/run\"*) ;; (*) return 1 ;; esac\n}\ncleared() {\n  [ -d \"$b/ops/$1\" ] || return 1\n  [ -e \"$b/ops/$1/rc\" ] || ! isrunning \"$b/ops/$1\" || return 1\n  \"$R/bin/rm\" -rf \"$b/ops/$1\"\n}",
  ),
  must: shellScript<never>(
    "tookeffect() {\n  c=${1##*/} m=$2 p=''\n  shift\n  for q in \"$@\"; do\n    case $c$m$p:$q in\n      (rm-*:/* | rmdir/*:/* | mv-f:/* | mv-fh:/*) [ ! -e \"$q\" ] && [ ! -h \"$q\" ] ;;\n      (mkdir*:/*) [ -d \"$q\" ] ;;\n      (chmod[0-7]*:/*) [ \"$(\"$R/usr/bin/stat\" -f %Lp \"$q\")\" = \"$m\" ] ;;\n    esac || return\n    case $q in (/*) p=/ ;; esac\n  done\n  case $c in (ln | cp) [ -e \"$q\" ] || [ -h \"$q\" ] ;; esac\n}\nmust() {\n  m=$1\n  shift\n  o=$({ \"$@\" && { tookeffect \"$@\" || { printf '%s reported success and changed nothing: %s' \"${1##*/}\" \"$q\"; false; }; }; } 2>&1) && return\n  x=$?\n  failed \"$m\" \"${o:-${1##*/} ended with $x}\"\n}",
  ),
  verdicts: shellScript<never>(
    "N='\n'\nchanged() {\n  printf '@changed\\n'\n  exit 0\n}\nunchanged() {\n  printf '@unchanged\\n'\n  exit 0\n}\nfailed() {\n  case $2 in\n    (*'No space left on device'*) printf '@failed disk-full %s\\n' \"${2%%\"$N\"*}\" >&2 ;;\n    (*) printf '@failed %s %s\\n' \"$1\" \"${2%%\"$N\"*}\" >&2 ;;\n  esac\n  exit 1\n}",
  ),
  write: shellScript<never>(
    "N='\n'\nchanged() {\n  printf '@changed\\n'\n  exit 0\n}\nunchanged() {\n  printf '@unchanged\\n'\n  exit 0\n}\nfailed() {\n  case $2 in\n    (*'No space left on device'*) printf '@failed disk-full %s\\n' \"${2%%\"$N\"*}\" >&2 ;;\n    (*) printf '@failed %s %s\\n' \"$1\" \"${2%%\"$N\"*}\" >&2 ;;\n  esac\n  exit 1\n}\ntookeffect() {\n  c=${1##*/} m=$2 p=''\n  shift\n  for q in \"$@\"; do\n    case $c$m$p:$q in\n      (rm-*:/* | rmdir/*:/* | mv-f:/* | mv-fh:/*) [ ! -e \"$q\" ] && [ ! -h \"$q\" ] ;;\n      (mkdir*:/*) [ -d \"$q\" ] ;;\n      (chmod[0-7]*:/*) [ \"$(\"$R/usr/bin/stat\" -f %Lp \"$q\")\" = \"$m\" ] ;;\n    esac || return\n    case $q in (/*) p=/ ;; esac\n  done\n  case $c in (ln | cp) [ -e \"$q\" ] || [ -h \"$q\" ] ;; esac\n}\nmust() {\n  m=$1\n  shift\n  o=$({ \"$@\" && { tookeffect \"$@\" || { printf '%s reported success and changed nothing: %s' \"${1##*/}\" \"$q\"; false; }; }; } 2>&1) && return\n  x=$?\n  failed \"$m\" \"${o:-${1##*/} ended with $x}\"\n}\nwrite() {\n  o=$({ printf '%s' \"$2\" >\"$1.$$\"; } 2>&1) || failed write \"${o:-$1 could not be written}\"\n  must write \"$R/bin/mv\" -f \"$1.$$\" \"$1\"\n}",
  ),
};
