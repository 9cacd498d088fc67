# `receive FILES` waits until every file has been received from other Macs and checked, and returns 1 if no other Mac
# has the missing files. A file that fails the check three times is left for the download. Root checks its own copy of
# each file, because the peer account may still be writing to the received file. The copy is in a folder that no other
# account can enter, because the peer account could have replaced the received file with a link. Up to four files are
# checked in parallel while other files are arriving. A file that passed an earlier check is not received again. Numbers
# from `peer.pl` are validated, because a shell can run commands while it evaluates an arithmetic expression. The job's
# `sources` file lists the Macs that sent the most recent bytes.
#
# If the published model has changed, only the wrong chunks of its files are received: `peer.pl` starts from a copy of
# each published file that has not passed a check. A wrong copy does not count as one of the three failures. The job's
# `peers` file records the number of wrong copies as `repaired COUNT`.
#
# If other Macs have sent a file's first bytes, `take_part INDEX PATH` makes these bytes the beginning of the file's
# download. The peer account could have replaced the file that contains these bytes with a link, so root works only on a
# copy.
#
# Uses peers.sh
# Uses ../trees/staged-files.sh
# Needs published: the published model's folder
# Prints: nothing; fails with disk-full, peer-failed, copy
# `place INDEX FILES` checks a received file and moves it to its final path.
place() {
  i=$1
  failed() {
    printf 'failed %s %s\n' "$1" "${2%%"$N"*}" >&5
    exit 1
  }
  shift $((4 * i + 1))
  umask 077
  g=$staging/checked/$2.own
  must copy "$R/bin/cp" -c "$peers/own/data/$i" "$g"
  compare "$g" "$2" "$3" || {
    "$R/bin/rm" -f "$g"
    printf 'wrong %s\n' "$i" >&5
    exit
  }
  must chmod "$R/bin/chmod" 644 "$g"
  umask 022
  case $1 in (*/*) must mkdir "$R/bin/mkdir" -p "$t/${1%/*}" ;; esac
  must mv "$R/bin/mv" -f "$g" "$t/$1"
  mark "$1" "$2"
  printf 'right %s\n' "$i" >&5
}
isnumber() {
  case $1 in ('' | *[!0-9]* | 0?* | ????????????????*) return 1 ;; esac
}
# Sets `missing` to the indexes of the missing files, and `earlier` to the indexes of the missing files that have an
# earlier version.
offered() {
  i=0
  while [ "$#" -gt 0 ]; do
    if ischecked "$1" "$2" "$3"; then
      printf 'ok %s\n' "$i" >&4
    else
      missing="$missing$i "
      if [ -s "$published/$1" ] && [ -f "$published/$1" ] && [ ! -h "$published/$1" ]; then
        earlier="$earlier$i "
        printf 'earlier %s\n' "$i" >&4
      fi
    fi
    i=$((i + 1))
    shift 4
  done
  printf 'begin\n' >&4
}
receive() {
  must chmod "$R/bin/chmod" 700 "$staging/checked"
  missing=' ' earlier=' ' repaired='' comparing=0 todo='' strikes='' counted='' sources=''
  offered "$@"
  while [ "$missing$todo$comparing" != ' 0' ]; do
    IFS=' ' read -r e x y <&3
    case $e in (file | right | wrong | progress) isnumber "$x" || continue ;; esac
    case $e in
      (file)
        case $missing in (*" $x "*)
          missing="${missing%%" $x "*} ${missing#*" $x "}" todo="$todo $x"
        ;; esac
        ;;
      (right)
        comparing=$((comparing - 1))
        printf 'ok %s\n' "$x" >&4
        ;;
      (wrong)
        comparing=$((comparing - 1))
        case $earlier in
          (*" $x "*) earlier="${earlier%%" $x "*} ${earlier#*" $x "}" repaired=x$repaired ;;
          (*) strikes="$strikes $x " ;;
        esac
        case $strikes in (*" $x "*" $x "*" $x "*) ;; (*)
          missing="$missing$x "
          printf 'wrong %s\n' "$x" >&4
        ;; esac
        ;;
      (progress)
        [ -n "$counted" ] || {
          counted=1 kept=$x
          [ -n "$waits" ] || activity receiving
        }
        progress "$x" "$total"
        [ "$y" = "$sources" ] || {
          sources=$y
          put sources "$y"
        }
        ;;
      (waiting)
        case $x in ([0-2][0-9]:[0-5][0-9]) waiting "$x" ;; (*) resumed ;; esac
        ;;
      (drop | refused) printf '%s %s %s\n' "$e" "$x" "$y" >>"$d/peers" ;;
      (stuck) return 1 ;;
      (full) failed disk-full "No space left on device: $x $y" ;;
      (failed) failed "$x" "$y" ;;
      (gone) failed peer-failed "$("$R/usr/bin/head" -n 1 "$d/peer")" ;;
    esac
    while [ -n "$todo" ] && [ "$comparing" -lt 4 ]; do
      x=${todo# }
      x=${x%% *}
      todo=${todo#" $x"}
      comparing=$((comparing + 1))
      place "$x" "$@" 4>&- &
    done
  done
  [ -z "$repaired" ] || printf 'repaired %s\n' "${#repaired}" >>"$d/peers"
}
take_part() {
  [ ! -e "$t/$2" ] || return 0
  printf 'download %s\n' "$1" >&4
  e='' x=''
  until [ "$e $x" = "part $1" ]; do
    IFS=' ' read -r e x y <&3
    case $e in
      (drop) printf '%s %s %s\n' "$e" "$x" "$y" >>"$d/peers" ;;
      (gone)
        printf 'gone\n' >&5
        return
        ;;
    esac
  done
  g=$t/$2.part
  size "$g"
  isnumber "$y" && [ "$y" -gt "$n" ] || return 0
  x=$staging/checked/$1.part
  umask 077
  must copy "$R/bin/cp" -c "$peers/own/data/$1.part" "$x"
  umask 022
  must truncate "$R/usr/bin/perl" -e 'truncate $ARGV[0], $ARGV[1] or die "$!\n"' "$x" "$y"
  must chmod "$R/bin/chmod" 644 "$x"
  case $2 in (*/*) must mkdir "$R/bin/mkdir" -p "${g%/*}" ;; esac
  must mv "$R/bin/mv" -f "$x" "$g"
  "$R/bin/rm" -f "$peers/own/data/$1.part"
}
