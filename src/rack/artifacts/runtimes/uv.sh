# Runs uv as the ranks' account. `find_uv FOLDER` finds uv in an unpacked archive. `install_python` creates the `$build`
# folder, installs a private Python there, and sets `p` to the path of the Python program. `uv CODE ARGS` runs uv; if uv
# fails, the script fails with CODE and prints the part of uv's output that names the cause. `own` runs any command in
# the same way. uv uses no other configuration, cache or Python on this Mac. uv reference: `uv python install` and the
# environment variables.
#
# Uses ../../../node/shell/as-account.sh
# Needs python: the Python version
# Needs index: the URL of the package index; empty for PyPI
# Needs pythons: the URL of the Python releases; empty for those on GitHub
# Prints: uv's output if uv fails; fails with no-uv, python
own() {
  as_account UV_NO_CONFIG=1 UV_MANAGED_PYTHON=1 UV_NO_CACHE=1 UV_NO_PROGRESS=1 UV_PYTHON_INSTALL_DIR="$build/python" \
    ${index:+"UV_DEFAULT_INDEX=$index"} ${pythons:+"UV_PYTHON_INSTALL_MIRROR=$pythons"} "$@"
}
uv() {
  m=$1
  shift
  o=$(own "$u" "$@" 2>&1) && return
  x=$?
  printf '%s\n' "$o"
  # If there is no solution, uv explains the reason on several lines, from `Because` to the end of the output. After a
  # failed build, the explanation ends at an empty line, below which Python reports the build program's error.
  o=$(printf '%s\n' "$o" | "$R/usr/bin/awk" '/Failed to build / { b = f = 1 } /Because / { b = 1 } f && !NF { b = 0 }
    b { $1 = $1; t = t s $0; s = " " } f && !b && /^ *[A-Za-z.]*Error: / { e = $0 }
    !k && /error|Caused by|hash/ { k = $0 }
    END { sub(/^.*Because /, "Because ", t); sub(/^[^A-Z]*/, "", t); sub(/^ */, " ", e); print t ? t e : k }')
  failed "$m" "uv: ${o:-it exited with $x}"
}
find_uv() {
  u=''
  for x in "$1"/uv "$1"/*/uv; do
    if [ -f "$x" ] && [ ! -h "$x" ]; then u=$x; fi
  done
  [ -n "$u" ] || failed no-uv 'the archive has no program uv'
}
install_python() {
  build_folder
  uv python python install --no-bin "$python"
  # Removes the links of uv to the newest of several Python versions, because these links contain the path of the folder in
  # which they were created.
  own "$R/usr/bin/find" "$build/python" -maxdepth 1 -type l -delete || failed python 'the links of Python could not be removed'
  p=''
  for x in "$build/python"/*/bin/python3.*; do
    case $x in (*-config) ;; (*) if [ -f "$x" ] && [ ! -h "$x" ]; then p=$x; fi ;; esac
  done
  [ -n "$p" ] || failed python 'uv installed no Python'
}
