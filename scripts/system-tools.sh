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
  [ -x /usr/sbin/sshd ] || printf ' openssh-server'
  command -v shellcheck >/dev/null || printf ' shellcheck'
  command -v dash >/dev/null || printf ' dash'
  command -v perl >/dev/null && command -v shasum >/dev/null || printf ' perl'
  command -v curl >/dev/null || printf ' curl'
  command -v ps >/dev/null || printf ' procps'
  command -v xz >/dev/null || printf ' xz-utils'
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

packages=$(missing)
if [ -n "$packages" ] && command -v apt-get >/dev/null; then
  # RUNLEVEL=1 keeps the packages from starting services: the tests run their own sshd on the loopback interface.
  as_root apt-get -qq update </dev/null
  # shellcheck disable=SC2086 # the words are package names
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install -y --no-install-recommends $packages </dev/null
fi
# An sshd that root starts needs this empty folder, which its service would create.
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

packages=$(missing)
[ -z "$packages" ] || { printf 'still missing:%s\n' "$packages" >&2; exit 1; }
printf 'ssh, sshd, ssh-keygen, shellcheck, dash, perl, curl, ps, xz, Chromium, dot, a C++ compiler, clang-tidy and the tools for namespaces are available\n'
