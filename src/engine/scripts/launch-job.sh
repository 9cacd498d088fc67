# Starts a job that survives the connection, unless it is running or its result exists, verified or published. Restarts
# a job that failed, died or lost its staging folder; the job resumes with the existing files. The process is detached
# from the connection: no terminal, no shared stream, HUP ignored.
#
# Uses ../../rack/artifacts/sealed-tree.sh
# Uses ../../node/shell/job-folders.sh
# Needs folder: the job's folder
# Needs published: the final folder of the tree
# Needs staged: the folder where the tree is prepared
# Needs verified: the file with the digest of a staged tree that a job has verified
# Needs digest: of the tree
# Needs about: lines of the job's file `job`; this script adds the boot session
# Needs run: the text of the job's file `run`
# Needs secret: a line for the job's standard input, which no file may contain; empty if the job reads none
# Needs tenths: time limit for the job's process number, in tenths of a second
# Prints: job=attached and @unchanged, job=done and @unchanged, or job=started and @changed; fails with mkdir, write,
# other-launch, not-started
isdone() {
  intact "$published" "$digest" && return
  x=''
  [ -d "$staged" ] && [ -e "$verified" ] && IFS= read -r x <"$verified"
  [ "${x% flushed}" = "$digest" ]
}
if isrunning "$folder" && [ ! -e "$folder/rc" ]; then
  printf 'job=attached\n'
  unchanged
fi
if isdone; then
  printf 'job=done\n'
  unchanged
fi
must mkdir "$R/bin/mkdir" -p "$folder"
stale() {
  q=''
  IFS= read -r q <"$1"
  [ "$p" = "$q" ] || failed other-launch 'somebody else has launched this job'
}
old=$folder/old.$$
if [ -e "$folder/pid" ]; then
  stale "$folder/pid"
  "$R/bin/mv" -f "$folder/pid" "$old"
  (stale "$old") || {
    "$R/bin/ln" "$old" "$folder/pid"
    exit 1
  }
fi
"$R/bin/rm" -f "$old" "$folder/rc" "$folder/failure" "$folder/note" "$folder/progress" "$folder/activity"
write "$folder/job" "$about${N}boot=$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)$N"
write "$folder/run" "$run"
# The builtin printf writes into a pipe, so the secret is in no argument and no file.
if [ -n "$secret" ]; then printf '%s\n' "$secret"; fi | (
  trap '' HUP
  exec "$R/bin/sh" "$folder/run"
) >"$folder/out" 2>"$folder/err" &
n=0
until [ -e "$folder/pid" ] || [ -e "$folder/rc" ]; do
  n=$((n + 1))
  [ "$n" -lt "$tenths" ] || failed not-started "$("$R/usr/bin/head" -n 1 "$folder/err")"
  "$R/bin/sleep" 0.1
done
printf 'job=started\n'
changed
