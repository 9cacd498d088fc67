#!/usr/bin/env bash
# Real Python programs for tests: installs the packages of test/python/NAME.requirements.txt, with the digests in that
# list, into .cache/python/NAME. Prints that folder, or fails with the reason in one line.
#   python-packages.sh NAME          installs the packages if they are missing or the list has changed
#   python-packages.sh NAME --find   does not use the network
set -u
cd "$(dirname "$0")/.." || exit 1
list=test/python/$1.requirements.txt folder=$PWD/.cache/python/$1
fail() { printf 'no Python packages "%s": %s\n' "${folder##*/}" "$1" >&2; exit 1; }
[ -r "$list" ] || fail "there is no $list"
python=$(python3 -c 'import ensurepip, sys; print(sys.version.split()[0] if sys.version_info >= (3, 11) else 1 / 0)' 2>/dev/null) ||
  fail 'python3 3.11 or newer, with its module venv, is not in PATH'
# Python's version and the digest of the list mark a whole installation.
wanted="$python $(shasum -a 256 <"$list")"
is_whole() { [ "$(cat "$folder/installed" 2>/dev/null)" = "$wanted" ] && printf '%s\n' "$folder"; }
is_whole && exit 0
[ "${2:-}" != --find ] || fail "install them first (scripts/python-packages.sh $1)"
mkdir -p "$folder" && exec 9>"$folder.lock" || exit 1
! command -v flock >/dev/null || flock 9
is_whole && exit 0
{ python3 -m venv --clear "$folder" && "$folder/bin/pip" install --quiet --no-input --no-compile --disable-pip-version-check \
  --retries 2 --timeout 30 --require-hashes --only-binary :all: -r "$list"; } >"$folder.log" 2>&1 </dev/null ||
  fail "$({ grep -m 1 '^ERROR: ' "$folder.log" || tail -n 1 "$folder.log"; } | tr -d '\r')"
printf '%s\n' "$wanted" >"$folder/installed" && is_whole
