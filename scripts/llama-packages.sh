#!/usr/bin/env bash
# The real llama.cpp for tests, from Debian unstable: unpacks the packages without installing them. Prints their folder,
# or fails with the reason in one line. Does not need root, does not change apt's own files, and pins no version, because
# unstable keeps changing. Downloaded packages are reused until their folder is removed.
#   llama-packages.sh          prints the folder; downloads the packages if they are missing
#   llama-packages.sh --find   prints the folder, or the reason why there is none; does not use the network
set -u
cd "$(dirname "$0")/.." || exit 1
cache=${MESHWRIGHT_LLAMA_CACHE:-$PWD/.cache/llama}
reason=$cache/why-not

fail() {
  mkdir -p "$cache" && printf '%s\n' "$1" >"$reason"
  printf 'no real llama.cpp: %s\n' "$1" >&2
  exit 1
}

# The programs and all libraries that they need, including a libc that is newer than the host's.
packages='llama.cpp-tools llama.cpp-tools-extra libggml0 libggml0-backend-rpc libllama0 libc6 libstdc++6 libgcc-s1 libgomp1 libssl3t64 zlib1g libzstd1'

# A folder is marked as unpacked once its programs have run.
find_unpacked() {
  for mark in "$cache"/*/unpacked; do
    [ -e "$mark" ] && dirname "$mark" && return 0
  done
  return 1
}

find_unpacked && exit 0
if [ "${1:-}" = --find ]; then
  [ -s "$reason" ] && { printf 'no real llama.cpp: %s\n' "$(cat "$reason")" >&2; exit 1; }
  printf 'no real llama.cpp: download it first (scripts/llama-packages.sh)\n' >&2
  exit 1
fi

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || fail "$tool is needed to download it"
done
case $(uname -m) in
  x86_64) triple=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
  aarch64) triple=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
  *) fail "Debian's llama.cpp packages are untested on $(uname -m)" ;;
esac
mkdir -p "$cache" || exit 1
if command -v flock >/dev/null; then
  exec 9>"$cache/.fetching"
  flock 9
  find_unpacked && exit 0
fi

# The Debian mirror and keys that this host itself trusts.
sources=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null)
mirror=$(printf '%s\n' "$sources" | sed -n 's/^URIs: *\([^ ]*\).*/\1/p' | grep -m 1 '/debian/*$')
[ -n "$mirror" ] || mirror=$(sed -n 's/^deb .*\(https\{0,1\}:[^ ]*\/debian\/*\) .*/\1/p' /etc/apt/sources.list 2>/dev/null | head -n 1)
keys=$(printf '%s\n' "$sources" | sed -n 's/^Signed-By: *\(.*debian.*\)/\1/p' | head -n 1)
[ -n "$keys" ] || keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -n "$mirror" ] || fail 'this host has no Debian mirror configured'
[ -r "$keys" ] || fail "this host has no Debian keys in $keys"

work=$(mktemp -d "$cache/.work.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{sources,lists/partial,archives/partial,log,root}
printf 'Types: deb\nURIs: %s\nSuites: sid\nComponents: main\nSigned-By: %s\n' "$mirror" "$keys" >"$work/sources/sid.sources"
private=(
  -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$work/sources"
  -o "Dir::State=$work" -o "Dir::State::lists=$work/lists" -o "Dir::State::status=/dev/null"
  -o "Dir::Cache=$work" -o "Dir::Cache::archives=$work/archives" -o "Dir::Log=$work/log"
  -o "APT::Sandbox::User=" -o "APT::Update::Error-Mode=any" -o "Acquire::Languages=none" -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30"
)
first_error() { { grep -m 1 '^E: ' "$1" || tail -n 1 "$1"; } | tr -d '\r'; }

apt-get "${private[@]}" -qq update </dev/null >"$work/said" 2>&1 || fail "apt-get update: $(first_error "$work/said")"
version=$(apt-cache "${private[@]}" show --no-all-versions llama.cpp-tools 2>/dev/null | sed -n 's/^Version: //p' | head -n 1)
[ -n "$version" ] || fail 'unstable currently has no package llama.cpp-tools'
# shellcheck disable=SC2086 # the words are package names
(cd "$work/archives" && apt-get "${private[@]}" -qq download $packages </dev/null) >"$work/said" 2>&1 ||
  fail "apt-get download: $(first_error "$work/said")"
for archive in "$work"/archives/*.deb; do
  dpkg-deb -x "$archive" "$work/root" 2>"$work/said" || fail "dpkg-deb: $(first_error "$work/said")"
done

# Collects both programs in `programs` and all libraries in `lib`, wherever the packages contain them.
tree=$work/tree
mkdir -p "$tree/programs"
for program in llama-server ggml-rpc-server; do
  found=$(find "$work/root/usr/bin" "$work/root/usr/libexec" -type f -name "$program" | head -n 1)
  [ -n "$found" ] || fail "llama.cpp $version has no $program"
  mv "$found" "$tree/programs/$program"
done
mv "$work/root/usr/lib/$triple" "$tree/lib"
rm -rf "$tree"/lib/gconv "$tree"/lib/engines-3 "$tree"/lib/ossl-modules
backends=$(find "$tree/lib" -name libggml-rpc.so | head -n 1)
[ -n "$backends" ] || fail "llama.cpp $version has no RPC backend"
backends=$(dirname "${backends#"$tree/"}")

# The programs need a newer libc than the host's, so they start through the loader from their packages. They start in the
# folder of the backends, because the current folder is the last place where they search for backends.
(cd "$tree/$backends" && "$tree/lib/$loader" --library-path "$tree/lib:$tree/lib/llama" \
  "$tree/programs/llama-server" --version) >"$work/said" 2>&1 || fail "llama.cpp $version does not run: $(first_error "$work/said")"

folder=$cache/$(printf '%s' "$version" | tr -c 'A-Za-z0-9.' _)
rm -rf "$folder"
mv "$tree" "$folder" || exit 1
rm -f "$reason"
printf '%s %s %s\n' "$version" "lib/$loader" "$backends" >"$folder/unpacked"
printf '%s\n' "$folder"
