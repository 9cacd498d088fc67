# Fetches all files of a model into staging.
#
# Files in a folder on this node are cloned, which takes neither time nor space if the file system supports clones.
# cp(1) of macOS: -c clones a file, or copies it if it cannot be cloned.
#
# If other Macs take part, this Mac serves the data that it has, and if `receives` is set, also receives files from the
# other Macs. Without a folder or a server, the other Macs are the only source.
#
# Uses ../trees/staged-files.sh
# Uses fetch-url.sh
# Uses ../peers/receive-files.sh
# Needs base: the base URL of the files; empty if the source is a folder
# Needs folder: the folder on this node that contains the files; empty if the source is a server
# Needs withheld: 1 if the server requires a token that this job does not have; otherwise empty
# Needs receives: 1 to receive files from other Macs; empty for a Mac that only serves files
# Arguments: each file's path, sha256, size and name at the source
# Prints: nothing; fails with disk-full, fetch-failed, copy, wrong-size, wrong-digest, peer-failed, token-needed, no-peer
copied() {
  [ -n "$folder" ] || failed no-peer "no other Mac has the right bytes of $2"
  f=$folder/$2
  [ -f "$f" ] || failed no-source "there is no $f"
  size "$1"
  if [ "$n" -eq 0 ]; then
    must copy "$R/bin/cp" -c "$f" "$1"
  else
    o=$("$R/usr/bin/tail" -c "+$((n + 1))" "$f" 2>&1 >>"$1") || failed copy "$o"
  fi
}
got() {
  if [ -n "$base" ]; then fetched "$1" "$base$2" "$3"; else copied "$1" "$2"; fi
}
leave_to_download() {
  i=0 unsent=''
  while [ "$#" -gt 0 ]; do
    ischecked "$1" "$2" "$3" || {
      take_part "$i" "$1"
      unsent=1
    }
    i=$((i + 1))
    shift 4
  done
  [ -z "$unsent" ] || failed token-needed 'no other Mac has the rest of the model'
}
refuse_root "$account"
[ -z "$plan" ] || refuse_root "$peer_account"
# Without perl, this Mac exchanges nothing, and gets everything from the source.
[ -z "$plan" ] || has_perl || plan='' receives=''
[ -z "$withheld" ] || [ -n "$receives" ] || failed token-needed 'this Mac gets nothing from other Macs'
[ -z "$base" ] || room
[ -z "$plan" ] || start_peer "$t" "$published"
# If no other Mac responds, the rest comes from the source.
[ -z "$receives" ] || {
  receive "$@" || [ -n "$base$folder" ] || failed no-peer 'no other Mac has the rest of the model'
  [ -z "$waits" ] || resumed
  "$R/bin/rm" -f "$d/sources"
  [ -z "$withheld" ] || leave_to_download "$@"
}
i=0
while [ "$#" -gt 0 ]; do
  [ -z "$receives" ] || ischecked "$1" "$2" "$3" || take_part "$i" "$1"
  file "$1" "$2" "$3" "$4"
  [ -z "$receives" ] || printf 'ok %s\n' "$i" >&4
  i=$((i + 1))
  shift 4
done
only
listed
whole
[ -z "$plan" ] || finish_peer
