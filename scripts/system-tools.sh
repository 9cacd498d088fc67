#!/usr/bin/env bash
# Checks for the programs besides Node that a full test run needs. Installs missing ones if this needs no prompt (Debian
# or Ubuntu, as root or with passwordless sudo), and fails with a list of those that are still missing.
set -u

# The same names as in test/scenarios/browser/chromium.ts.
has_browser() {
  [ -n "${MESHWRIGHT_CHROMIUM:-}" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    command -v google-chrome >/dev/null || command -v google-chrome-stable >/dev/null
}

missing() {
  command -v ssh >/dev/null || printf ' openssh-client'
  command -v ssh-keygen >/dev/null || printf ' openssh-client'
  PATH="$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec" command -v sshd >/dev/null || printf ' openssh-server'
  command -v shellcheck >/dev/null || printf ' shellcheck'
  command -v dash >/dev/null || printf ' dash'
  command -v perl >/dev/null && command -v shasum >/dev/null || printf ' perl'
  command -v curl >/dev/null || printf ' curl'
  command -v ps >/dev/null || printf ' procps'
  command -v xz >/dev/null || printf ' xz-utils'
  python3 -c 'import ensurepip' 2>/dev/null || printf ' python3-venv'
  has_browser || printf ' chromium'
  command -v dot >/dev/null || printf ' graphviz'
  command -v c++ >/dev/null && command -v cc >/dev/null || printf ' g++'
  command -v clang-tidy >/dev/null || printf ' clang-tidy'
  [ "$(uname)" != Linux ] || /sbin/ldconfig -p | grep -q 'libibverbs[.]so[.]1 ' || printf ' libibverbs1'
  # Simulated Macs in namespaces need root on Linux.
  if [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ]; then
    [ -x /usr/bin/sudo ] || printf ' sudo'
    command -v mkfs.xfs >/dev/null || printf ' xfsprogs'
    command -v mkfs.ext4 >/dev/null || printf ' e2fsprogs'
    command -v ip >/dev/null && command -v tc >/dev/null || printf ' iproute2'
    command -v nsenter >/dev/null && command -v setpriv >/dev/null || printf ' util-linux'
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# A slow mirror may end the downloads, but nothing ends dpkg: a killed dpkg breaks the machine's package database.
# bash runs this trap when the current program has ended.
stopped=''
trap 'stopped=yes' TERM INT
apt_get=(apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30
  -o DPkg::Lock::Timeout=120 -o APT::Update::Error-Mode=any)

# Runs an apt-get that only downloads: at most this many seconds, and again if another one has its lock.
download() {
  seconds=$1
  shift
  for pause in 10 20 0; do
    [ -z "$stopped" ] || return 1
    as_root timeout -k 10 "$seconds" "${apt_get[@]}" "$@" </dev/null && return 0
    sleep "$pause"
  done
  return 1
}

install_missing() {
  as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a </dev/null || return 1
  download 90 update || return 1
  # shellcheck disable=SC2086 # the words are package names
  download 240 install -y --no-install-recommends --download-only $packages || return 1
  [ -z "$stopped" ] || return 1
  # RUNLEVEL=1 keeps the packages from starting services: the tests run their own sshd on the loopback interface.
  # shellcheck disable=SC2086 # the words are package names
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 "${apt_get[@]}" install -y --no-install-recommends --no-download $packages </dev/null
}

packages=$(missing)
if [ -n "$packages" ] && command -v apt-get >/dev/null; then
  install_missing || printf 'the installation of these packages failed:%s\n' "$packages" >&2
fi
# An sshd that root starts needs this empty folder, which its service would create.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

packages=$(missing)
[ -z "$packages" ] || { printf 'still missing:%s\n' "$packages" >&2; exit 1; }
printf 'ssh, sshd, ssh-keygen, shellcheck, dash, perl, curl, ps, xz, Python, Chromium, dot, a C++ compiler, clang-tidy and the tools for namespaces are available\n'
