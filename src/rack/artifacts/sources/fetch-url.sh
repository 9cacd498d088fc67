# `file PATH DIGEST SIZE SOURCE` fetches one file into `$t`. The file's name ends in `.part` until its size and sha256
# are right. A file with the wrong digest or size is fetched once more from the start. A file that was compared before
# an interruption is not compared again. The calling script defines `got PART SOURCE`, which gets the bytes. `room`
# fails if the disk is too small for the rest of `total`.
#
# `fetched PART URL SIZE` gets the bytes from a server. The download resumes where a part ends; a server that cannot
# resume sends the whole file again. If an account is named, curl runs as that account with access only to a pipe, and
# root reads the received bytes only to store and compare them. curl(1): exits 33 and 36 mean that it cannot resume, 63
# that the answer is too large, 1 that it may not use the protocol; -q ignores the account's settings; --proto-redir
# limits redirects. The token is in no argument, environment variable or file: curl reads its configuration from
# standard input, and sends the header to no other host.
#
# Every file's size is known beforehand. head(1) stores at most one byte more than is missing, so that a server cannot
# fill the disk. curl itself refuses an announced length that is larger than the file; some KiB more are allowed,
# because older versions also apply the limit to redirects' bodies.
#
# A server that sends less than 1 KiB per second for a minute, or sends three answers with less than 64 KiB in total,
# counts as failed.
#
# After each response, curl prints its status, the number of redirects and the `RateLimit` header (curl 7.84 and later).
# 401, 403 and 404 from the server itself are final. 403 after a redirect means that a signed URL has expired, so the
# server is asked again. After 429, the script waits as long as the header asks (`t=52` means 52 seconds), but at most
# half an hour in total per file.
#
# Outside the job's hours, nothing is requested. A download stops when the hours end and resumes when they begin again.
# Each curl runs for at most an hour, because the clock may be changed meanwhile.
#
# Uses ../trees/staged-files.sh
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/download-hours.sh
# Needs account: the account that runs curl and must not be able to become root; empty for root
# Needs protocols: the protocols that curl may use
# Needs volume: the staging folder's volume
# Needs receives: 1 if other files came from other Macs and are not counted as kept
# Needs rate: the maximum number of bytes per second; empty for no limit
# Needs secret: 1 if the first line of standard input is a token for the server
# Prints: nothing; fails with disk-full, fetch-failed, fetch-refused, wrong-size, wrong-digest
watch() {
  (
    while "$R/bin/sleep" 1 && kill -0 "$$" 2>/dev/null; do
      size "$1"
      progress "$((done + n))" "$total"
    done
  ) &
  w=$!
}
unwatch() {
  kill "$w" 2>/dev/null
  wait "$w" 2>/dev/null
}
token=''
[ -z "$secret" ] || IFS= read -r token
fetch() {
  set -- "$R/usr/bin/curl" -q -f -s -S -L --proto "$protocols" --proto-redir "$protocols" --connect-timeout 20 --speed-limit 1024 --speed-time 60 -w '%{stderr}@%{http_code} %{num_redirects} %header{ratelimit}\n' -K - "$@"
  [ -z "$rate" ] || set -- "$@" --limit-rate "$rate"
  [ -z "$left" ] || set -- "$@" -m "$((left < 3600 ? left : 3600))"
  [ -z "$account" ] || set -- "$R/usr/bin/sudo" -n -H -u "$account" "$@"
  printf '%s' "${token:+header = \"Authorization: Bearer $token\"}" | "$@" 2>"$d/curl"
}
came() {
  [ "$n" -ge "$((b + 65536))" ]
}
fetched() {
  k=0 b=0 pauses=0
  while :; do
    size "$1"
    # New bytes show that the server works, so the count of attempts starts again.
    if came; then k=0 b=$n; fi
    ! await_hours || k=0
    x=$({ {
      fetch -C "$n" --max-filesize "$(($3 + 65536))" "$2" 3>&-
      printf '%s' "$?" >&3
    } | "$R/usr/bin/head" -c "$(($3 - n + 1))" >>"$1" 2>"$d/write"; } 3>&1) || failed disk-full "$("$R/bin/cat" "$d/write")"
    h=$("$R/usr/bin/awk" '/^@/ { print; exit }' "$d/curl")
    m=$("$R/usr/bin/awk" '!/^@/ { print; exit }' "$d/curl")
    size "$1"
    if [ "$x" -eq 63 ] || [ "$n" -gt "$3" ]; then
      "$R/bin/rm" -f "$1"
      failed wrong-size "$2 has more than $3 bytes"
    fi
    case $x in
      (0) return ;;
      (33 | 36)
        "$R/bin/rm" -f "$1"
        b=0
        ;;
      (28)
        if [ -n "$left" ] && { ! inhours || came; }; then continue; fi
        ;;
    esac
    case $h in
      ('@401 0 '* | '@403 0 '* | '@404 0 '*) failed fetch-refused "$m" ;;
      ('@429 '*)
        s=${h##*;t=}
        s=${s%%[!0-9]*}
        case $s in ('') s=60 ;; (0*) s=1 ;; esac
        [ "$s" -le 300 ] || s=300
        pauses=$((pauses + s))
        [ "$pauses" -le 1800 ] || failed fetch-failed "the server still limits requests after $((pauses - s)) s of pauses"
        "$R/bin/sleep" "$s"
        continue
        ;;
    esac
    k=$((k + 1))
    [ "$k" -lt 3 ] || failed fetch-failed "$m"
    "$R/bin/sleep" "$k"
  done
}
file() {
  if ischecked "$@"; then
    [ -n "$receives" ] || kept=$((kept + $3))
    activity receiving
    passed "$@"
    return
  fi
  g="$t/$1.part"
  [ ! -e "$t/$1" ] || must mv "$R/bin/mv" -f "$t/$1" "$g"
  must mkdir "$R/bin/mkdir" -p "${g%/*}"
  y=0
  while :; do
    true >>"$g" || failed write 'a file could not be written'
    size "$g"
    [ "$n" -le "$3" ] || {
      true >"$g"
      n=0
    }
    had=$n
    kept=$((kept + had))
    activity receiving
    # Files of 16 MiB or more show their progress while they arrive.
    [ "$3" -lt 16777216 ] || watch "$g"
    [ "$n" -eq "$3" ] || got "$g" "$4" "$3"
    [ "$3" -lt 16777216 ] || unwatch
    # The account may still be writing to a file that it has open, so only root's copy is compared and published.
    if [ -n "$account" ]; then
      must copy "$R/bin/cp" -c "$g" "$g.own"
      must mv "$R/bin/mv" -f "$g.own" "$g"
    fi
    activity comparing
    ! compare "$g" "$2" "$3" || break
    kept=$((kept - had))
    "$R/bin/rm" -f "$g"
    y=$((y + 1))
    [ "$y" -lt 2 ] || failed wrong-digest "$1"
  done
  must mv "$R/bin/mv" -f "$g" "$t/$1"
  checked "$@"
}
room() {
  a=$("$R/bin/df" -k "$volume" | "$R/usr/bin/awk" 'NR == 2 { print $4 }')
  h=$("$R/usr/bin/find" "$t" -type f -exec "$R/usr/bin/stat" -f %z '{}' + | "$R/usr/bin/awk" '{ s += $1 } END { printf "%.0f", s }')
  case $a in ('' | *[!0-9]*) ;; (*)
    [ "$a" -gt "$(((total - h) / 1024))" ] || failed disk-full "No space left on device for $((total - h)) bytes: $a KiB are free"
  ;; esac
}
