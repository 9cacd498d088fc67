# Clones a model's files into staging and checks each clone. The files come from the folder of other software, or from
# the model's published folder if that folder has changed. cp(1) of macOS: -c clones a file, which takes neither time
# nor space, or copies it if the file system does not support clones. The script only reads the source folder. A file
# that differs, or that is a link to a file outside the folder, is skipped and reported in the job's `note` file; the
# file then comes from the model's own source. The job fails if a process has one of the folder's files open for
# writing, or if a file changes in the meantime. lsof(8): -F prints one field per line: p PID, c command, a access, n
# name; access w or u means writing. Since huggingface_hub 1.32 (huggingface_hub#4498), large files are stored in a
# `blobs` folder next to the repositories, so links into that folder are allowed. huggingface_hub first writes downloads
# to a different folder.
#
# Uses ../trees/staged-files.sh
# Needs folder: the folder that contains the files
# Needs fence: the folder that links must not point outside of
# Needs shared: not empty if the same folder also contains files of other models, which may be written in the meantime
# Arguments: each file's path, sha256, size and name in the folder
# Prints: nothing; fails with adopt-gone, adopt-writing, adopt-changed, copy
opened() {
  if [ -z "$shared" ]; then
    "$R/usr/bin/find" "$within" -type f -exec "$R/usr/sbin/lsof" -Fcan -- '{}' +
    return
  fi
  while [ "$#" -gt 0 ]; do
    "$R/usr/sbin/lsof" -Fcan -- "$within/$4"
    shift 4
  done
}
unwritten() {
  [ -x "$R/usr/sbin/lsof" ] || failed adopt-writing 'lsof, which shows who writes files, is missing'
  opened "$@" >"$d/open" 2>/dev/null
  x=$("$R/usr/bin/awk" '/^p/ { p = substr($0, 2) } /^c/ { c = substr($0, 2) } /^a/ { a = substr($0, 2) }
/^n/ && a ~ /[uw]/ { print c " (PID " p ") is writing " substr($0, 2); exit }' "$d/open")
  [ -z "$x" ] || failed adopt-writing "$x"
}
states() {
  while [ "$#" -gt 0 ]; do
    "$R/usr/bin/stat" -L -f '%d %i %z %m %c %N' "$folder/$4"
    shift 4
  done 2>/dev/null
}
left() {
  out=${out:-$1}
  outs=$((outs + 1))
}
adopted() {
  if ischecked "$1" "$2" "$3"; then
    passed "$@"
    return
  fi
  f=$("$R/usr/bin/readlink" -f "$folder/$4")
  case $f in ("$within"/* | "${store:-$within}"/*) ;; (*)
    left "$4 is missing or leads out of the folder"
    return
  ;; esac
  size "$f"
  if [ ! -f "$f" ] || [ "$n" -ne "$3" ]; then
    left "$4 has a different size"
    return
  fi
  g=$t/$1.clone
  must mkdir "$R/bin/mkdir" -p "${g%/*}"
  "$R/bin/rm" -f "$g"
  must copy "$R/bin/cp" -c "$f" "$g"
  x=$(sha256 2>/dev/null <"$g")
  if [ "$x" != "$2" ]; then
    "$R/bin/rm" -f "$g"
    if [ -z "$x" ]; then left "$4 cannot be read"; else left "$4 has different contents"; fi
    return
  fi
  must mv "$R/bin/mv" -f "$g" "$t/$1"
  "$R/bin/rm" -f "$t/$1.part"
  checked "$@"
}
every() {
  while [ "$#" -gt 0 ]; do
    adopted "$1" "$2" "$3" "$4"
    shift 4
  done
}
out='' outs=0
within=$(cd -P "$fence" 2>/dev/null && pwd -P)
store=''
case $fence in (*/models--*) store=$(cd -P "$fence/../blobs" 2>/dev/null && pwd -P) ;; esac
if [ -z "$within" ] || [ ! -d "$folder" ]; then failed adopt-gone "there is no $folder"; fi
unwritten "$@"
before=$(states "$@")
every "$@"
[ "$(states "$@")" = "$before" ] || failed adopt-changed "a file in $folder changed while it was cloned"
unwritten "$@"
[ "$outs" -eq 0 ] || put note "$outs left out: $out"
