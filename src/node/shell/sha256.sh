# `sha256 <FILE` prints the SHA-256 of its input as 64 hexadecimal digits, or fails and prints nothing. Models can be
# hundreds of GB in size, and shasum, a perl program, is slow. macOS 15 and later include sha256sum, which is used if it
# prints the right digest for `abc` (FIPS 180-4). According to md5/md5.c in Apple's text_cmds-190, sha256sum prints the
# digest, two spaces and the name.
#
# Prints: the digest
sha256() {
  set -- "$R/sbin/sha256sum"
  case $({ printf abc | "$1"; } 2>/dev/null) in (ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' '*) ;; (*)
    set -- "$R/usr/bin/shasum" -a 256
  ;; esac
  x=$("$@") || return
  x=${x%% *}
  case $x in (*[!0-9a-f]*) return 1 ;; esac
  [ "${#x}" -eq 64 ] && printf '%s\n' "$x"
}
