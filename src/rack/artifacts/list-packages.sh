# Makes the complete list of packages of one requirement: uv chooses a version of every dependency for this Mac and writes
# it with the hash of each of its files. It installs nothing but a temporary Python and runs no program of a package.
# uv reference: `uv pip compile`.
#
# Uses unpack.sh
# Uses uv.sh
# Needs wanted: the requirement, such as mlx-lm==0.32.0
# Needs most: the longest list in bytes
# Needs list: the file for the result
# Prints: the output of uv if it fails; fails with packages, too-long
unpack
find_uv "$new"
progress $((bytes / 4)) "$bytes"
install_python
progress $((bytes / 2)) "$bytes"
printf '%s\n' "$wanted" >"$new/wanted" || failed write 'the requirement could not be written'
uv packages pip compile --generate-hashes --no-build --no-header --no-annotate --python "$p" --python-version "$python" --output-file "$build/list" "$new/wanted"
# The account owns the folder, so only the account may follow a link in it.
own "$R/usr/bin/head" -c $((most + 1)) "$build/list" >"$list.new" || failed packages 'uv wrote no list'
x=$("$R/usr/bin/stat" -f %z "$list.new") || failed stat 'the size of the list could not be read'
[ "$x" -le "$most" ] || failed too-long "the list has more than $most bytes"
must chmod "$R/bin/chmod" 755 "$staging"
must chmod "$R/bin/chmod" 644 "$list.new"
must mv "$R/bin/mv" -f "$list.new" "$list"
must rm "$R/bin/rm" -rf "$build" "$new"
progress "$bytes" "$bytes"
