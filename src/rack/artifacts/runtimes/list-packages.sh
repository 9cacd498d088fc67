# Lists all packages that a requirement needs: uv chooses a version of every dependency for this Mac, and lists each
# version with the hashes of its files. uv installs only a temporary Python, and runs no program from a package.
#
# If the package comes from a commit, uv first builds a wheel, which runs the commit's own build program as the ranks'
# account. The list then contains all dependencies from the index, and the package with the hash of this wheel. Only a
# wheel without compiled code is accepted, because every node installs the same file. uv reference: `uv build`, `uv pip
# compile`. PEP 427: wheel names.
#
# Uses unpack.sh
# Uses uv.sh
# Uses commit-source.sh
# Needs wanted: the requirement, such as mlx-lm==0.32.0; for a commit, the package's name
# Needs stem: the package's name as it appears in wheel names
# Needs wheel: the path of the built wheel
# Needs most_wheel: the wheel's maximum size in bytes
# Needs most: the list's maximum size in bytes
# Needs list: the path of the finished list
# Prints: uv's output if uv fails; fails with build, packages
unpack
find_uv "$new"
progress $((bytes / 4)) "$bytes"
install_python
progress $((bytes / 2)) "$bytes"
v=''
if [ -n "$source_digest" ]; then
  unpack_commit
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
  x=$(sha256 <"$wheel.new") || failed shasum 'the sha256 of the wheel could not be read'
  printf '%s==%s \\\n    --hash=sha256:%s\n' "$package" "$v" "$x" >>"$list.new" || failed write 'the list could not be written'
  publish "$wheel"
fi
publish "$list"
must rm "$R/bin/rm" -rf "$build" "$new"
progress "$bytes" "$bytes"
