# Unpacks uv and runs it to create a private Python and a venv with exactly the packages in the locked requirements. uv
# verifies the hash of every package, never runs a package's build program, and uses no other files or caches on this
# Mac. uv runs as the ranks' account and in a new folder each time, so nothing that uv fetches and nothing that a
# package starts runs as root. Root unpacks a tar archive of the result into its own tree, and replaces the paths that
# uv wrote with paths in the published tree. Root also records the installed files for the seal, because each node
# builds its own tree. Without internet access, everything comes from wheels and a Python archive among the runtime's
# extra files. Even with internet access, one package can come from a wheel among the extra files: uv chooses this wheel
# over the index's files for the same version, because the locked requirements do not contain the hashes of the index's
# files. uv reference: `uv python install`, `uv venv`, `uv pip sync` and the environment variables; PEP 405 for `home`.
#
# Uses unpack.sh
# Uses uv.sh
# Needs offline: 1 if everything comes from the extra files
# Needs built: the name of a wheel that was built from a commit, among the extra files
# Needs wheel: the file name that this wheel gets before it is installed; empty if there is no such wheel
# Needs published: the tree's final folder
# Arguments: the name and sha256 of each extra file
# Prints: uv's output if uv fails; fails with no-uv, python, venv, packages, libraries
unpack
while [ "$#" -gt 0 ]; do
  extra "$1" "$2"
  shift 2
done
find_uv "$new"
# Moves the wheels to a separate folder, and the Python archive to the path that uv expects below a mirror's URL: a
# folder named after the Python release, which is part of the archive's name. UV_PYTHON_INSTALL_MIRROR also accepts
# file:// URLs.
w=''
if [ -n "$offline" ]; then
  w=$new/wheels
  pythons=file://$w
  must mkdir "$R/bin/mkdir" -p "$w"
  for x in "$new"/*.whl; do
    [ ! -f "$x" ] || must mv "$R/bin/mv" -f "$x" "$w/"
  done
  for x in "$new"/cpython-*+*.tar.gz; do
    [ -f "$x" ] || continue
    v=${x##*+}
    v=$w/${v%%-*}
    must mkdir "$R/bin/mkdir" -p "$v"
    must mv "$R/bin/mv" -f "$x" "$v/"
  done
fi
if [ -n "$wheel" ]; then
  w=$new/wheels
  must mkdir "$R/bin/mkdir" -p "$w"
  must mv "$R/bin/mv" -f "$new/$built" "$w/$wheel"
fi
must rm "$R/bin/rm" -f "$new.tar"
progress $((bytes / 4)) "$bytes"
install_python
progress $((bytes / 2)) "$bytes"
uv venv venv --relocatable --no-project --python "$p" "$build/venv"
uv packages pip sync ${offline:+--offline --no-index} ${w:+--find-links "$w"} --require-hashes --no-build --compile-bytecode --python "$build/venv/bin/python" "$new/requirements.lock"
[ -z "$w" ] || "$R/bin/rm" -rf "$w"
p=${p#"$build/"}
case $p in (*[!A-Za-z0-9._+/-]*) failed python 'uv created a folder with an unexpected name' ;; esac
own "$R/bin/rm" "$build/venv/bin/python" || failed venv 'the link to Python could not be removed'
own "$R/usr/bin/tar" -cf - -C "$build" python venv >"$new.tar" 2>"$d/tar" || failed packages "tar: $("$R/bin/cat" "$d/tar")"
tarred "$new.tar"
must rm "$R/bin/rm" -rf "$build" "$new.tar"
stays_inside
if [ ! -f "$new/$p" ] || [ -h "$new/$p" ]; then failed python 'uv installed no Python'; fi
must link "$R/bin/ln" -s "$published/$p" "$new/venv/bin/python"
"$R/usr/bin/awk" -v home="$published/${p%/*}" '/^home = / { $0 = "home = " home } { print }' "$new/venv/pyvenv.cfg" >"$d/cfg" || failed write 'pyvenv.cfg could not be written'
must cp "$R/bin/cp" "$d/cfg" "$new/venv/pyvenv.cfg"
# Records the installed files for the seal: one digest of all files in the packages' folder, and one digest of each
# compiled mlx library, such as `library.mlx.lib.libmlx.dylib=`. Files that differ between nodes are left out: bytecode,
# and each distribution's `RECORD` and `uv_*.json` files (uv: crates/uv-install-wheel and crates/uv-cache-info).
l=$staging/libraries
x=${p%%/bin/*}
printf 'python=%s\n' "${x##*/}" >"$l" || failed write 'the list of libraries could not be written'
s=''
for x in "$new"/venv/lib/python3.*/site-packages; do
  if [ -d "$x" ]; then s=$x; fi
done
[ -n "$s" ] || failed packages 'uv created no folder for packages'
o=$("$R/usr/bin/perl" -e 'use strict;
use Digest::SHA;
use File::Find;
my $top = shift;
my %of;
my $take = sub {
  my $name = substr $_, 1 + length $top;
  return if $name =~ m{(?:^|/)__pycache__/} or $name =~ m{\.dist-info/(?:RECORD|uv_[a-z]+\.json)\z};
  return if -d $_ and not -l $_;
  $of{$name} = -l $_ ? "-> " . readlink $_ : Digest::SHA->new(256)->addfile($_, "b")->hexdigest;
};
find({ no_chdir => 1, wanted => $take }, $top);
die "there are no packages\n" unless %of;
my $all = Digest::SHA->new(256);
my %named;
for my $name (sort keys %of) {
  $all->add("$of{$name} $name\0");
  next unless $name =~ m{^mlx/[A-Za-z0-9_./-]+\.(?:so|dylib|metallib)\z} and $of{$name} !~ /^->/;
  my $key = "library." . join ".", split m{/}, $name;
  $named{$key} = $of{$name} if length $key < 64;
}
print "packages=", $all->hexdigest, "\n";
print "$_=$named{$_}\n" for sort keys %named;
' "$s" 2>&1) || failed libraries "${o:-the libraries could not be read}"
printf '%s\n' "$o" >>"$l" || failed write 'the list of libraries could not be written'
finish
