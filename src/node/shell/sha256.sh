# `sha256 <FILE` prints the SHA-256 of its input: 64 digits, or nothing with an exit other than 0. Models have hundreds of
# GB, and shasum, a perl program, is slow. macOS has sha256sum from version 15 on; it is used if it knows the digest of
# `abc` (FIPS 180-4). Apple's text_cmds-190, md5/md5.c: the digest, two blanks and the name.
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
