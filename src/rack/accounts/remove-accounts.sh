# Removes our accounts with their groups and homes, and kills the processes that still run as them. If a record is not
# ours, removes only our own files. Where macOS does not let an ssh session delete a record, the account remains,
# without a password, a shell or files.
#
# dscl(1): to delete a record over ssh, sshd needs Full Disk Access; otherwise dscl fails with -14120.
#
# Uses account-records.sh
# Needs names: the accounts' names
# Prints: @changed; fails with still-running
# `end_all UID NAME` kills every process of an account. Its services are already removed, so these processes were left
# behind. After the account is deleted, macOS could give its ID, and thus these processes, to another account.
end_all() {
  # Checks five times a second.
  n=0
  while :; do
    o=$("$R/bin/ps" -ax -o uid= -o pid= 2>&1) || failed ps "$o"
    x=$(printf '%s\n' "$o" | "$R/usr/bin/awk" -v "u=$1" '$1 == u { print $2 }')
    [ -n "$x" ] || return 0
    [ "$n" -lt 50 ] || failed still-running "process ${x%%"$N"*} of the account $2 does not end; restart this Mac and run uninstall again"
    for x in $x; do kill -s KILL "$x" 2>/dev/null; done
    n=$((n + 1))
    "$R/bin/sleep" 0.2
  done
}
for name in $names; do
  u='' q=''
  f=$accounts/$name g=$accounts/$name.begun
  [ ! -e "$g" ] || IFS= read -r u <"$g"
  [ ! -e "$f" ] || IFS=' ' read -r u q <"$f"
  set --
  directory -read Groups "$name" PrimaryGroupID
  r=$o
  ! has "PrimaryGroupID: ${u#uid=}" || set -- Groups
  read_account "$name"
  if has "UniqueID: ${u#uid=}" && { [ -z "$q" ] || has "GeneratedUID: ${q#id=}"; }; then
    end_all "${u#uid=}" "$name"
    set -- Users "$@"
  fi
  for x in "$@"; do
    x=/$x/$name
    if o=$("$R/usr/bin/dscl" . -delete "$x" 2>&1); then
      o=$("$R/usr/bin/dscl" . -read "$x" PrimaryGroupID 2>&1) && failed dscl "dscl reported success, but $x still exists"
    fi
    case $o in (*eDSRecordNotFound* | *eDSPermissionError*) ;; (*) failed dscl "$o" ;; esac
  done
  must rm "$R/bin/rm" -rf "${accounts:?}/folders/$name" "$accounts/$name.checked" "$f" "$g"
done
changed
