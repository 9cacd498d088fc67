# Makes the complete list of packages of one requirement: uv chooses a version of every dependency for this Mac and writes
# it with the hash of each of its files. It installs nothing but a temporary Python and runs no program of a package.
#
# For a package from a commit, uv first builds its wheel. This runs the commit's own build program, as the account of the
# ranks. The list then has all dependencies from the index, and the package with the hash of this wheel. Only a wheel
# without compiled code is accepted, because every node installs the same file.
# uv reference: `uv build`, `uv pip compile`. PEP 427: names of wheels.
#
# Uses unpack.sh
# Uses uv.sh
# Needs wanted: the requirement, such as mlx-lm==0.32.0; for a commit, the name of the package
# Needs source: the archive of the commit
# Needs source_digest: its sha256; empty for a package from the index
# Needs stem: the package's name in names of wheels
# Needs wheel: the file for the built wheel
# Needs most_wheel: the longest wheel in bytes
# Needs most: the longest list in bytes
# Needs list: the file for the result
# Prints: the output of uv if it fails; fails with build, packages, too-long, wrong-digest
unpack
find_uv "$new"
progress $((bytes / 4)) "$bytes"
install_python
progress $((bytes / 2)) "$bytes"
# `take FILE BYTES TARGET` copies a result of uv that is not too long. The account owns the folder, so only the account may
# follow a link in it. `publish FILE` completes it for the computer that reads it.
take() {
  own "$R/usr/bin/head" -c $(($2 + 1)) "$1" >"$3.new" || failed packages "uv wrote no ${3##*/}"
  x=$("$R/usr/bin/stat" -f %z "$3.new") || failed stat "the size of the ${3##*/} could not be read"
  [ "$x" -le "$2" ] || failed too-long "the ${3##*/} has more than $2 bytes"
}
publish() {
  must chmod "$R/bin/chmod" 644 "$1.new"
  must mv "$R/bin/mv" -f "$1.new" "$1"
}
v=''
if [ -n "$source_digest" ]; then
  if [ ! -f "$source" ] || [ -h "$source" ]; then failed no-archive 'the archive of the commit is missing'; fi
  x=$("$R/usr/bin/shasum" -a 256 "$source") || failed shasum 'the sha256 of the archive could not be read'
  [ "${x%% *}" = "$source_digest" ] || failed wrong-digest "the archive of the commit has the sha256 ${x%% *}"
  must cp "$R/bin/cp" "$source" "$build/source.tar.gz"
  must chown "$R/usr/sbin/chown" "$account" "$build/source.tar.gz"
  x=$(own "$R/bin/mkdir" "$build/source" 2>&1 && own "$R/usr/bin/tar" -xf "$build/source.tar.gz" -C "$build/source" 2>&1) || failed bad-archive "$x"
  k=''
  for x in "$build/source"/*; do
    [ -z "$k" ] || failed bad-archive 'the archive of the commit has more than one folder'
    k=$x
  done
  uv build build --wheel --no-sources --python "$p" --out-dir "$build/built" "$k"
  k=''
  for x in "$build/built"/*.whl; do
    if [ -f "$x" ]; then k=$x; fi
  done
  [ -n "$k" ] || failed build 'uv built no wheel'
  v=${k##*/"$stem"-}
  case $v in
    (*[!A-Za-z0-9.+_]*-py3-none-any.whl) failed build "uv built $v, whose name is not valid" ;;
    (?*-py3-none-any.whl) v=${v%-py3-none-any.whl} ;;
    (*) failed build "uv built ${k##*/} instead of a wheel of $wanted without compiled code" ;;
  esac
  take "$k" "$most_wheel" "$wheel"
  package=$wanted
  wanted="$package @ file://$k"
fi
printf '%s\n' "$wanted" >"$new/wanted" || failed write 'the requirement could not be written'
uv packages pip compile --generate-hashes --no-build --no-header --no-annotate ${v:+--no-emit-package "$package"} --python "$p" --python-version "$python" --output-file "$build/list" "$new/wanted"
take "$build/list" "$most" "$list"
must chmod "$R/bin/chmod" 755 "$staging"
if [ -n "$v" ]; then
  x=$("$R/usr/bin/shasum" -a 256 "$wheel.new") || failed shasum 'the sha256 of the wheel could not be read'
  printf '%s==%s \\\n    --hash=sha256:%s\n' "$package" "$v" "${x%% *}" >>"$list.new" || failed write 'the list could not be written'
  publish "$wheel"
fi
publish "$list"
must rm "$R/bin/rm" -rf "$build" "$new"
progress "$bytes" "$bytes"
