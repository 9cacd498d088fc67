# Removes our accounts, their groups and their homes, and kills all processes that still run under these accounts. If an
# account's record is not ours, removes only our files for the account. If macOS does not allow an ssh session to delete
# a record, the account remains, but has no password, shell or files.
#
# dscl(1): deleting a record over ssh requires Full Disk Access for sshd; otherwise, dscl fails with -14120.
#
# Uses account-records.sh
# Needs names: the accounts' names
# Prints: @changed; fails with still-running
# `end_all UID NAME` kills all processes of an account. The account's services have already been removed, so these
# processes were left behind. Once the account is deleted, macOS could assign its ID to another account, which would
# then own these processes.
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
