# Creates one of our accounts and its group, without a password, a shell or a writable home. A record with different
# values belongs to a person or a program and is not changed. If a run is killed, the next run finishes creating the
# account. The script also reuses a record that macOS kept during `uninstall`.
#
# dscl(1): `-create` builds a record one key at a time, as seen over ssh as root on headless Macs with Apple silicon.
#
# Uses account-records.sh
# Needs name: the name of the account and its group
# Needs home: the home folder that the account's record contains
# Needs first_number: the first ID in the range for our accounts
# Needs last_number: the last ID in this range
# Prints: @changed or @unchanged; fails with other-account, no-number
f=$accounts/$name g=$accounts/$name.begun
# The path in the record has no root prefix.
home=${home#"$R"}
# `add Users|Groups KEY VALUE` adds a missing key to the record `r`, and never changes an existing value.
add() {
  has "$2: $3" && return
  case "$N$r" in (*"$N$2:"*) failed other-account "/$1/$name has a different $2" ;; esac
  directory -create "$1" "$name" "$2" "$3"
}
# Sets `y` to one of our values (with the ID `i`) that is missing from the record `r`, or to nothing if none is missing.
lacking() {
  y=''
  for x in "UniqueID: $i" "PrimaryGroupID: $i" "NFSHomeDirectory: $home" 'UserShell: /usr/bin/false' 'Password: *'; do
    has "$x" || y=$x
  done
}
# Picks the first ID that is not used by any account or group. Later runs use the same ID.
choose_number() {
  directory -list Users '' UniqueID
  l=$o
  directory -list Groups '' PrimaryGroupID
  l=$N$(printf '%s\n%s\n' "$l" "$o" | "$R/usr/bin/awk" '{ print $NF }')$N
  i=$first_number
  while [ "$i" -le "$last_number" ]; do
    case $l in (*"$N$i$N"*) i=$((i + 1)) ;; (*) break ;; esac
  done
  [ "$i" -le "$last_number" ] || failed no-number "every number from $first_number to $last_number is taken"
  write "$g" "$i$N"
}
read_account "$name"
if [ -e "$f" ]; then
  u='' q=''
  IFS=' ' read -r u q <"$f"
  if [ -n "$r" ] && has "UniqueID: ${u#uid=}" && has "GeneratedUID: ${q#id=}"; then
    must rm "$R/bin/rm" -f "$g"
    unchanged
  fi
  [ -z "$r" ] || failed other-account "the account $name is not the one that meshwright created"
  # The account that meshwright created has been deleted. The new account gets the same ID; if the group now has a
  # different ID, the script fails.
  write "$g" "${u#uid=}$N"
  must rm "$R/bin/rm" -f "$f"
fi
must mkdir "$R/bin/mkdir" -p "$accounts"
directory -read Groups "$name" PrimaryGroupID
if [ -e "$g" ]; then
  IFS= read -r i <"$g"
elif [ -z "$r$o" ]; then
  choose_number
else
  # A record that macOS kept from an earlier installation has all of the values below. Any other record is not ours.
  i=${r##*UniqueID: }
  i=${i%%"$N"*}
  case $i in ('' | *[!0-9]*) i=0 ;; esac
  lacking
  case $N$o$N in (*"${N}PrimaryGroupID: $i$N"*) ;; (*) y=group ;; esac
  if [ -n "$y" ] || [ "$i" -lt "$first_number" ] || [ "$i" -gt "$last_number" ]; then
    failed other-account "an account or a group $name exists that meshwright did not create"
  fi
  write "$g" "$i$N"
fi
case $i in ('' | *[!0-9]*) failed other-account "$g has no number" ;; esac
directory -list Users '' UniqueID
x=$(printf '%s\n' "$o" | "$R/usr/bin/awk" -v i="$i" -v name="$name" '$NF == i && $1 != name { print $1 }')
[ -z "$x" ] || failed other-account "its number $i now belongs to $x"
directory -create Groups "$name"
directory -read Groups "$name" PrimaryGroupID
r=$o
add Groups PrimaryGroupID "$i"
directory -create Users "$name"
read_account "$name"
add Users UniqueID "$i"
add Users PrimaryGroupID "$i"
add Users NFSHomeDirectory "$home"
add Users UserShell '/usr/bin/false'
add Users Password '*'
read_account "$name"
lacking
[ -z "$y" ] || failed dscl "dscl reported success, but the account has no $y"
q=${r##*GeneratedUID: }
q=${q%%"$N"*}
o=$("$R/usr/bin/id" -u "$name" 2>&1)
[ "$o" = "$i" ] || failed id "macOS does not find the account: $o"
write "$f" "uid=$i id=$q$N"
must rm "$R/bin/rm" -f "$g"
changed
