# `file PATH DIGEST SIZE SOURCE` fetches one file into `$t`. The file's name ends in `.part` until its size and sha256
# are right. A file with the wrong digest or size is fetched once more from the start. A file that was checked before an
# interruption is not checked again. The calling script defines `got PART SOURCE SIZE`, which fetches the bytes. `room`
# fails if the volume does not have enough free space for the rest of the `total` bytes.
#
# `fetched PART URL SIZE` downloads the bytes from a server. The download resumes at the end of a partial file; a server
# that does not support resuming sends the whole file again. If `account` is set, curl runs as that account and can
# write only to a pipe; root only stores and checks the received bytes. curl(1): exit codes 33 and 36 mean that curl
# cannot resume, 63 that the response is too large, 1 that the protocol is not allowed; -q ignores the account's curl
# configuration; --proto-redir limits the protocols of redirects. The token never appears in an argument, environment
# variable or file: curl reads the header that contains it from standard input, and does not send this header to other
# hosts.
#
# Every file's size is known in advance. head(1) stores at most one byte more than is missing, so a server cannot fill
# the disk. curl itself rejects a response whose announced length exceeds the file's size by more than 64 KiB. This
# tolerance is needed because older versions of curl also apply the limit to the bodies of redirects.
#
# An attempt fails if the server sends less than 1 KiB per second for a minute. The download fails after three attempts
# that received less than 64 KiB in total.
#
# After each response, curl prints the response's status, the number of redirects and the `RateLimit` header (curl 7.84
# and later). A 401, 403 or 404 response from the server itself is final. A 403 response after a redirect means that a
# signed URL has expired, so the script sends the request to the server again. After a 429 response, the script waits
# for as long as the header specifies (`t=52` means 52 seconds), but at most five minutes at a time and half an hour in
# total per file.
#
# Outside the job's download hours, the script sends no requests. A download stops when these hours end and resumes when
# they begin again. During the hours, each curl process runs for at most one hour, because the clock may be changed in
# the meantime.
#
# Uses ../trees/staged-files.sh
# Uses ../../../node/shell/refuse-root.sh
# Uses ../../../node/shell/download-hours.sh
# Needs account: the account that runs curl and must not be able to become root; empty for root
# Needs protocols: the protocols that curl may use
# Needs volume: the staging folder's volume
# Needs receives: 1 if other files came from other Macs, which are not counted as kept
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
    # New bytes show that the server works, so the attempt counter is reset.
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
    # Progress is reported during the download of files of 16 MiB or more.
    [ "$3" -lt 16777216 ] || watch "$g"
    [ "$n" -eq "$3" ] || got "$g" "$4" "$3"
    [ "$3" -lt 16777216 ] || unwatch
    # The account may still be writing to a file that it has open, so the copy that is checked and published belongs
    # to root.
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
