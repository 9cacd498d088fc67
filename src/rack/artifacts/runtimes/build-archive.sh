# Builds llama-server and the RPC worker from a llama.cpp commit, and packs both into the `bin` folder of an archive.
# CMake, which runs the commit's build programs, runs as the ranks' account. Root copies the two programs, and packs
# them only if they were built for Apple silicon.
#
# If Apple's command line tools are missing, programs such as /usr/bin/git open a dialog that offers to install the
# tools. So nothing is started before `xcode-select -p` has printed the tools' folder; the command fails if there is
# none (xcode-select(1)). CMake is not part of macOS. The options work with llama.cpp from b6850 to v0.5.0; CMake only
# warns about options that a commit does not support. The programs do not depend on Homebrew libraries (OpenSSL, OpenMP,
# curl), which may be missing on other Macs. The web interface is disabled too, because the build would download it. The
# programs run on every Mac with Apple silicon (GGML_NATIVE=OFF). RDMA needs no option: on macOS 26.2 and later,
# ggml-rpc finds librdma in Apple's tools. Until 2026, the RPC worker was called rpc-server.
#
# Uses ../trees/staged-tree.sh
# Uses commit-source.sh
# Needs commit: the first digits of the commit's hash, for `llama-server --version`
# Needs most: the archive's maximum size in bytes
# Needs built: the path of the new archive
# Needs list: the path of the file that contains the new archive's sha256
# Needs cmakes: the number of folders that may contain CMake
# Arguments: these folders, then the folders that contain macOS's programs
# Prints: the end of CMake's output if CMake fails; fails with no-tools, no-cmake, configure, build, no-target,
# not-for-macs
if [ ! -f "$source" ] || [ -h "$source" ]; then failed no-archive 'the archive of the commit is missing'; fi
owned "$staging"
bytes=$("$R/usr/bin/stat" -f %z "$source") || failed stat 'the size of the archive could not be read'
progress 0 "$bytes"
x=$("$R/usr/bin/xcode-select" -p 2>/dev/null) || x=''
if [ -z "$x" ] || [ ! -x "$R$x/usr/bin/make" ]; then
  failed no-tools "this Mac has no command line tools of Apple, which compile the commit. Install them: run xcode-select --install in Terminal on this Mac"
fi
c='' o=''
while [ "$cmakes" -gt 0 ]; do
  if [ -z "$c" ] && [ -x "$1/cmake" ]; then c=$1/cmake; fi
  o="$o${o:+, }${1#"$R"}/cmake"
  cmakes=$((cmakes - 1))
  shift
done
[ -n "$c" ] || failed no-cmake "this Mac has no CMake: none of $o exists. Install it: run brew install cmake, or move CMake.app from cmake.org to Applications"
path=$1
shift
for x in "$@"; do path=$path:$x; done
build_folder
unpack_commit
cmake() {
  as_account PATH="$path" "$c" "$@" >"$d/cmake" 2>&1
}
# `stopped CODE` fails with CODE and the output line that names the cause: the first compiler or linker error, or
# CMake's first error together with its text in the lines below.
stopped() {
  "$R/usr/bin/tail" -n 40 "$d/cmake"
  o=$("$R/usr/bin/awk" -v folder="$k/" '{ l = $0; i = index(l, folder); if (i) l = substr(l, 1, i - 1) substr(l, i + length(folder)) }
    !e && l ~ /: (fatal )?error: / && l !~ /^[a-z+]*: / { e = l }
    !u && l ~ /^(ld: |Undefined symbols)/ { u = l }
    b && !NF && t { b = 0 }
    b && NF { $1 = $1; t = t " " $0 }
    !c && /^CMake Error/ { c = l; b = 1 }
    !m && l ~ /rror/ { m = l }
    NF { n = l }
    END { print e ? e : u ? u : c ? c t : m ? m : n }' "$d/cmake")
  "$R/bin/rm" -rf "$build"
  failed "$1" "cmake: ${o:-it failed without a message}"
}
cmake -S "$k" -B "$build/out" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DCMAKE_OSX_ARCHITECTURES=arm64 \
  -DCMAKE_OSX_DEPLOYMENT_TARGET=15.0 -DBUILD_SHARED_LIBS=OFF -DGGML_METAL=ON -DGGML_METAL_EMBED_LIBRARY=ON -DGGML_RPC=ON \
  -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_CCACHE=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF \
  -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_UI=OFF \
  -DLLAMA_USE_PREBUILT_UI=OFF "-DLLAMA_BUILD_COMMIT=$commit" || stopped configure
cmake --build "$build/out" --target help || stopped configure
worker=$("$R/usr/bin/awk" '$2 == "llama-server" { s = 1 } $2 ~ /^(ggml-)?rpc-server$/ { w = $2 } END { if (s) print w }' "$d/cmake")
[ -n "$worker" ] || failed no-target 'the commit does not build llama-server and ggml-rpc-server, as llama.cpp does'
# Leaves half of the processor cores to ranks that serve requests during the build.
n=$("$R/usr/sbin/sysctl" -n hw.ncpu)
case $n in ('' | *[!0-9]*) n=2 ;; esac
# This loop is killed when the build ends; awk would then report a broken pipe.
(
  while "$R/bin/sleep" 1 && kill -0 "$$" 2>/dev/null; do
    x=$("$R/usr/bin/tail" -n 50 "$d/cmake" | "$R/usr/bin/awk" '/^\[ *[0-9]+%\]/ { p = $0; gsub(/^\[ *|%.*$/, "", p) } END { print p + 0 }' 2>/dev/null)
    progress "$((bytes * x / 100))" "$bytes"
  done
) &
w=$!
cmake --build "$build/out" --parallel "$(((n + 1) / 2))" --target llama-server "$worker"
x=$?
kill "$w" 2>/dev/null
wait "$w" 2>/dev/null
[ "$x" -eq 0 ] || stopped build
p=$staging/pack
must rm "$R/bin/rm" -rf "$p"
must mkdir "$R/bin/mkdir" -p "$p/bin"
for x in llama-server "$worker"; do
  n=$p/bin/ggml-${x#ggml-}
  [ "$x" != llama-server ] || n=$p/bin/$x
  take "$build/out/bin/$x" "$((most * 4))" "$n"
  # Checks for the first eight bytes of a Mach-O file for arm64. @see mach-o/loader.h
  x=$("$R/usr/bin/head" -c 8 "$n.new" | "$R/usr/bin/base64")
  [ "$x" = z/rt/gwAAAE= ] || failed not-for-macs "the build of ${n##*/} is not a program for Apple silicon"
  must chmod "$R/bin/chmod" 755 "$n.new"
  must mv "$R/bin/mv" -f "$n.new" "$n"
done
# Otherwise, macOS's tar adds extended attributes as separate files.
export COPYFILE_DISABLE=1
must tar "$R/usr/bin/tar" -czf "$built.new" -C "$p" bin
n=$("$R/usr/bin/stat" -f %z "$built.new") || failed stat 'the size of the archive could not be read'
[ "$n" -le "$most" ] || failed too-long "the archive of the build has $n bytes, more than $most"
x=$(sha256 <"$built.new") || failed shasum 'the sha256 of the archive could not be read'
printf '%s\n' "$x" >"$list.new" || failed write 'the sha256 could not be written'
must chmod "$R/bin/chmod" 755 "$staging"
publish "$built"
publish "$list"
must rm "$R/bin/rm" -rf "$build" "$p"
progress "$bytes" "$bytes"
