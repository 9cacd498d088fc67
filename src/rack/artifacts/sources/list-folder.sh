# Lists a folder's files in the job's `list` file. Each line contains a file's SHA-256, state and path; the state
# consists of the device, inode, size, modification time and change time. A file is not read again if its state is
# already in the list from an earlier run. Names that begin with a dot are skipped; links to files are followed. The
# script reads the files only two seconds after it has recorded their states, so every later write changes a state.
#
# Uses ../../../node/shell/sha256.sh
# Needs folder: the folder to list
# Needs most: the maximum number of files
# Prints: nothing; fails with no-source, being-written, not-a-file, odd-name, too-many-files, find, shasum
states() {
  "$R/usr/bin/find" "$folder/." '(' -name '.?*' -prune ')' -o ! -type d -exec "$R/usr/bin/stat" -L -f '%d %i %z %m %c %N' '{}' + >"$1" 2>"$d/problem" || failed find "$("$R/usr/bin/head" -n 1 "$d/problem")"
}
[ -d "$folder" ] || failed no-source "there is no folder $folder"
x=$("$R/usr/bin/find" "$folder/." -name "*$N*") || failed find "$folder could not be listed"
[ -z "$x" ] || failed odd-name "a name in $folder has a line break"
x=$("$R/usr/bin/find" "$folder/." -name '*.incomplete' -o -name '*.partial' -o -name '*.part' -o -name '*.crdownload' -o -name '*.download' -o -name '*.aria2')
[ -z "$x" ] || failed being-written "${x%%"$N"*} is the name of a download that has not finished"
"$R/usr/bin/find" "$folder/." '(' -name '.?*' -prune ')' -o -type l -print >"$d/links" || failed find "$folder could not be listed"
while IFS= read -r f; do
  [ -f "$f" ] || failed not-a-file "$f is a link to something that is not a file"
done <"$d/links"
states "$d/before"
x=$("$R/usr/bin/awk" -v most="$most" '{ s += $3 } END { if (NR > most) print NR; else printf "= %.0f\n", s }' "$d/before")
case $x in ('= '*) total=${x#= } ;; (*) failed too-many-files "$folder has $x files; at most $most are possible" ;; esac
done=0
progress 0 "$total"
true >>"$d/list" || failed write 'the list could not be written'
"$R/usr/bin/awk" 'FILENAME == ARGV[1] { of[substr($0, 66)] = substr($0, 1, 64); next }
{ print (($0 in of) ? of[$0] : "-"), $0 }' "$d/list" "$d/before" >"$d/todo" || failed awk 'the list could not be compared'
x=$("$R/usr/bin/awk" '/^-/ { print; exit }' "$d/todo")
[ -z "$x" ] || "$R/bin/sleep" 2
true >"$d/list.new" || failed write 'the list could not be written'
while IFS= read -r x; do
  h=${x%% *} x=${x#* }
  f=${x#* * * * * } n=${x#* * }
  n=${n%% *}
  if [ "$h" = - ]; then
    h=$(sha256 <"$f") || failed shasum "$f could not be read"
    printf '%s %s\n' "$h" "$x" >>"$d/list" || failed write 'the list could not be written'
  fi
  printf '%s %s\n' "$h" "$x" >>"$d/list.new" || failed write 'the list could not be written'
  done=$((done + n))
  progress "$done" "$total"
done <"$d/todo"
states "$d/after"
x=$("$R/usr/bin/awk" 'FILENAME == ARGV[1] { was[$0]; k++; next }
!($0 in was) { print; exit }
{ n++ }
END { if (n < k) print "" }' "$d/before" "$d/after" && printf .) || failed awk 'the states could not be compared'
if [ "$x" != . ]; then
  x=${x%%"$N"*}
  x=${x#* * * * * }
  failed being-written "${x:-a file in $folder} changed while the folder was read"
fi
must mv "$R/bin/mv" -f "$d/list.new" "$d/list"
