# Prints a job's state and the first line of each file in which the job reports its progress or result.
#
# Needs key: the job's key
# Needs folder: the job's folder
# Prints: state=absent, running, ended or gone; progress=, activity=, until=, sources=, serving=, rc=, failure= and
# note=, each only if the job has written the file of that name; once the job has ended, one exchange= line for each
# report about another Mac; end
printed() {
  [ -e "$folder/$1" ] || return 0
  IFS= read -r x <"$folder/$1"
  printf '%s=%s\n' "$1" "$x"
}
state=absent p=''
if [ -e "$folder/job" ]; then
  state=gone
  [ ! -e "$folder/pid" ] || IFS= read -r p <"$folder/pid"
  case $p in ('' | *[!0-9]*) ;; (*)
    case $("$R/bin/ps" -ww -o command= -p "$p") in (*"/$key/run"*) state=running ;; esac
  ;; esac
  [ ! -e "$folder/rc" ] || state=ended
fi
printf 'state=%s\n' "$state"
printed progress
printed activity
printed until
printed sources
printed serving
printed rc
printed failure
printed note
if [ "$state" = ended ] && [ -e "$folder/peers" ]; then
  n=0
  while [ "$n" -lt 64 ] && IFS= read -r x; do
    n=$((n + 1))
    printf 'exchange=%s\n' "$x"
  done <"$folder/peers"
fi
printf 'end\n'
