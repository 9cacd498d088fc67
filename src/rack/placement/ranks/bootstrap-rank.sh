# Prepares a rank without starting it: creates its log, record and request, and then runs `launchctl bootstrap` on its
# service file, which must already exist. The rank's account can write to the log. The number of starts in this boot
# session is kept across generations. If launchd already has the service, the script unloads it first; if the service is
# running, the script fails, because the caller should have stopped the service. launchctl(1): `enable` undoes a
# `disable`, which otherwise persists across bootstraps; bootstrap exits with 5 if the service is already loaded.
#
# Lasting folders belong to the account that wrote them. If the account changes, these folders are created from scratch,
# because root never gives an account a folder that another account could have filled with links.
#
# Uses ../../../node/shell/service.sh
# Uses ../../../node/shell/wired-memory.sh
# Uses ../../../node/shell/own-log.sh
# Uses ../../../node/shell/own-folder.sh
# Uses ../../../node/shell/job-folders.sh
# Needs folder: the rank's folder, which contains its record
# Needs plist: the service file
# Needs log: the log that launchd appends to
# Needs most_log_bytes: the size in bytes above which the log is rotated
# Needs record: the lines of the record, except for the two lines that count starts
# Needs request: the body of a request for one token
# Needs user: the rank's account; empty for the user who ran sudo
# Needs home: the home of a meshwright account
# Needs temporary: the account's replacement for /tmp
# Needs job: the key of the job that prepared the rank; empty if there is none
# Arguments: three words for each name in the rank's `files` folder: `file NAME ''` (already exists), `link NAME TO`,
#   `folder NAME ''` (created from scratch), `lasting NAME ''` (a folder that is kept), or `prepared NAME ''` (made by a
#   job)
# Prints: @changed or @unchanged; fails with no-service-file, still-running, not-prepared
d=$folder
owner=${user:-${SUDO_USER:-root}}
stays=$N lasting=''
keep() {
  while [ "$#" -gt 0 ]; do
    case $1 in
      (file) stays=$stays$2$N ;;
      (prepared)
        if [ ! -e "$d/prepared.$2" ] || [ ! -d "$d/files/$2" ]; then failed not-prepared "$2 is not complete"; fi
        stays=$stays$2$N
      ;;
      (lasting)
        stays=$stays$2$N lasting=1
        [ "$before" = "$owner" ] || must rm "$R/bin/rm" -rf "$d/files/$2"
      ;;
    esac
    shift 3
  done
}
make() {
  while [ "$#" -gt 0 ]; do
    case $1 in
      (link) must ln "$R/bin/ln" -s "$3" "$d/files/$2" ;;
      (folder)
        must mkdir "$R/bin/mkdir" "$d/files/$2"
        ownfolder "$d/files/$2" "$owner"
      ;;
      (lasting)
        must mkdir "$R/bin/mkdir" -p "$d/files/$2"
        ownfolder "$d/files/$2" "$owner"
      ;;
    esac
    shift 3
  done
}
[ -e "$plist" ] || failed no-service-file "there is no $plist"
s='' n=0
[ ! -e "$d/record" ] || while IFS= read -r x; do
  case $x in (startedIn=*) s=${x#*=} ;; (starts=*) n=${x#*=} ;; esac
done <"$d/record"
case $n in ('' | *[!0-9]*) s='' n=0 ;; esac
r="$record${N}startedIn=$s${N}starts=$n"
if look; then
  [ -e "$d/record" ] && [ "$("$R/bin/cat" "$d/record")" = "$r" ] && unchanged
  [ -z "$pid" ] || failed still-running "an older generation is running as process $pid"
  bootout
fi
refuse_marked
must mkdir "$R/bin/mkdir" -p "$d" "${log%/*}"
# The rank is not running now, so a log that is too large can be rotated.
ownlog "$log" "$user"
if [ "$("$R/usr/bin/stat" -f %z "$log")" -gt "$most_log_bytes" ]; then
  must mv "$R/bin/mv" -f "$log" "$log.1"
  ownlog "$log" "$user"
fi
[ ! -e "$log.1" ] || must chmod "$R/bin/chmod" 600 "$log.1"
[ "$owner" = "${SUDO_USER:-root}" ] || for x in "$home" "$temporary"; do
  must mkdir "$R/bin/mkdir" -p "$x"
  ownfolder "$x" "$owner"
done
if [ "$#" -eq 0 ]; then
  "$R/bin/rm" -rf "$d/files"
else
  before=${SUDO_USER:-root}
  [ ! -e "$d/owner" ] || IFS= read -r before <"$d/owner"
  keep "$@"
  [ -z "$lasting" ] || write "$d/owner" "$owner$N"
  must mkdir "$R/bin/mkdir" -p "$d/files"
  for f in "$d/files"/*; do
    case $stays in (*"$N${f##*/}$N"*) ;; (*) must rm "$R/bin/rm" -rf "$f" ;; esac
  done
  make "$@"
fi
for f in "$d"/prepared.*; do
  [ -d "$d/files/${f##*/prepared.}" ] || "$R/bin/rm" -f "$f"
done
[ -z "$job" ] || cleared "$job" || :
write "$d/request" "$request"
write "$d/record" "$r$N"
must launchctl "$R/bin/launchctl" enable "$L"
n=0
until "$R/bin/launchctl" bootstrap system "$plist" >"$d/bootstrap" 2>&1 || look; do
  n=$((n + 1))
  [ "$n" -lt 3 ] || failed launchctl "$("$R/bin/cat" "$d/bootstrap")"
  "$R/bin/sleep" 2
done
"$R/bin/rm" -f "$d/bootstrap"
look || failed launchctl 'launchctl reported success, but does not show the service'
changed
