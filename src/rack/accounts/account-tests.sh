# Tests, under a rank's account and with a rank's environment, everything that a rank needs to do: write to its home
# folder, read files, open RDMA devices, and use the GPU. Each test has a key, and only the requested tests run. A
# short-lived service runs this script.
#
# Needs files_key: the key of the test that checks whether the account can read the files that ranks read
# Needs devices: the names of the RDMA devices that the ssh user sees
# Needs kernel_script: a script that reads the state of the RDMA driver before any verbs tool starts
# Needs ports_script: a script that queries the RDMA devices, unless another verbs tool is still running or a rank is
# starting
# Needs left_alone: the exit code of ports_script if it did not query the devices
# Needs gpu_key: the key of the GPU test
# Needs gpu_command: the command line with which a runtime lists its devices
# Needs gpu_shows: a pattern that matches the command's output if the runtime can use the GPU
# Needs gpu_built_for: a pattern that matches the command's output if the runtime was built for a GPU; empty if it
# always is
# Arguments: the root prefix, and the keys of the tests to run
# Prints: one line per test: `passed KEY`, `failed KEY: WORDS`, or `busy KEY: WORDS` if the test must be repeated later.
#   WORDS is the reason, such as the last line of a program's output.
q=$2
cd "$TMPDIR" || exit
N='
'
passed() { printf 'passed %s\n' "$1"; }
refused() { printf '%s %s: %s\n' "$1" "$2" "${3##*"$N"}"; }
wants() { case " $q " in (*" $1 "*) ;; (*) return 1 ;; esac; }
if wants home; then
  if x=$({ true >"$HOME/.check"; } 2>&1); then
    "$R/bin/rm" -f "$HOME/.check"
    passed home
  else
    refused failed home "$x"
  fi
fi
# Tests the paths that the root script found on this node, one per line. The root script looks for them, because the
# account may be unable to enter the folders above these paths.
if wants "$files_key"; then
  z=''
  while IFS= read -r x; do
    [ -r "$x" ] || [ -x "$x" ] || z=$x
  done <"${0%/*}/paths" || z='the list of what it reads'
  if [ -z "$z" ]; then
    passed "$files_key"
  else
    refused failed "$files_key" "the account cannot read $z"
  fi
fi
if ! wants rdma; then
  :
elif [ -z "$devices" ]; then
  refused busy rdma 'the ssh user sees no RDMA device here'
else
  (eval "$kernel_script") >kernel 2>&1
  o=$( (eval "$ports_script") 2>&1)
  c=$?
  if [ "$c" -eq "$left_alone" ]; then
    refused busy rdma "$o"
  else
    m=$N$(printf '%s\n' "$o" | "$R/usr/bin/awk" '$1 == "hca_id:" { print $2 }')$N
    z=''
    for device in $devices; do
      case $m in (*"$N$device$N"*) ;; (*) z="$z $device" ;; esac
    done
    if [ -n "$z" ]; then
      [ "$c" -eq 0 ] || z="$z: ${o##*"$N"}"
      refused failed rdma "the account cannot open$z"
    elif [ "$c" -ne 0 ]; then
      refused failed rdma "${o:-ibv_devinfo exited with $c}"
    else
      passed rdma
    fi
  fi
fi
prints() { printf '%s\n' "$o" | "$R/usr/bin/awk" -v "q=$1" '$0 ~ q { f = 1 } END { exit !f }'; }
if wants "$gpu_key"; then
  o=$(eval "$gpu_command" 2>&1)
  c=$?
  if [ "$c" -ne 0 ]; then
    refused failed "$gpu_key" "${o:-the runtime exited with $c}"
  elif prints "$gpu_shows" || { [ -n "$gpu_built_for" ] && ! prints "$gpu_built_for"; }; then
    passed "$gpu_key"
  else
    refused failed "$gpu_key" 'the runtime finds no GPU'
  fi
fi
