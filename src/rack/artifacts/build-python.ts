import type { JobArgs } from '../../model/node-script.ts';
import { ownerWord, refuseRoot } from '../../node/owner-word.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { stagedTree, stagingName, treeFolder } from '../../node/paths/tree-paths.ts';
import { quote } from '../../node/quote.ts';
import { writtenLibraries } from './library-digests.ts';
import { staysInside, tarWords, unpackedRuntime } from './unpack-runtime.ts';

/**
 * Unpacks uv, which makes a Python of its own and a venv beside it, with the packages of the locked requirements and nothing
 * else: each by its hash, none that would run a program of its own to be built, and no file or cache from elsewhere. uv runs
 * as the account of ranks, in a new folder of that account each time: what it fetches, and what packages start, is not root.
 * Root unpacks a tar of the result into its own tree, then changes the paths that uv wrote to those of the published tree, and
 * writes down for the seal what came out: each node has made it by itself. Without internet all of it comes from wheels and
 * an archive of Python among the extras.
 *
 * @see uv reference: `uv python install`, `uv venv`, `uv pip sync` and the environment variables; PEP 405 for `home`
 */
export function buildPython({ python, isOffline, account, ...args }: JobArgs['build-python']): string {
  const staged = pathWord(stagedTree(args.tree));
  const builds = pathWord(below(place.builds, stagingName(args.tree)));
  const version = quote(python);
  const environment = [
    'HOME="$b" TMPDIR="$b" UV_NO_CONFIG=1 UV_MANAGED_PYTHON=1 UV_NO_CACHE=1 UV_NO_PROGRESS=1',
    `UV_PYTHON_INSTALL_DIR="$b/python"${isOffline ? ' UV_PYTHON_INSTALL_MIRROR="file://$w"' : ''}`,
  ].join(' ');
  return `${refuseRoot(account)}${unpackedRuntime(
    args,
    `t=${staged}.new
f=${pathWord(treeFolder(args.tree))}
u=''
for x in "$t"/uv "$t"/*/uv; do
  if [ -f "$x" ] && [ ! -h "$x" ]; then u=$x; fi
done
[ -n "$u" ] || failed no-uv 'the archive has no program uv'
own() {
  # find and uv want to enter the folder that they start in, and the home of the ssh user is closed to others.
  (cd "$b" && exec ${pathWord(tool.sudo)} -n -H -u ${ownerWord(account)} ${pathWord(tool.env)} ${environment} "$@" </dev/null)
}
uv() {
  m=$1
  shift
  o=$(own "$u" "$@" 2>&1) && return
  x=$?
  printf '%s\\n' "$o"
  o=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} '$0 ~ "error|Caused by|hash" && !k { k = $0 } END { print k }')
  failed "$m" "uv: \${o:-it ended with $x}"
}
${isOffline ? takenApart : ''}must mkdir ${pathWord(tool.mkdir)} -p ${pathWord(place.builds)}
must rm ${pathWord(tool.rm)} -rf ${builds}.* "$t.tar"
b=$(${pathWord(tool.mktemp)} -d ${builds}.XXXXXX)
[ -d "$b" ] || failed mktemp 'no folder could be made for uv'
must chown ${pathWord(tool.chown)} ${ownerWord(account)} "$b"
progress $((n / 4)) "$n"
uv python python install --no-bin ${version}
# Links that stand for the newest of several versions name the folder in which they were made.
own ${pathWord(tool.find)} "$b/python" -maxdepth 1 -type l -delete || failed python 'the links of Python could not be removed'
p=''
for x in "$b/python"/*/bin/python3.*; do
  case $x in (*-config) ;; (*) if [ -f "$x" ] && [ ! -h "$x" ]; then p=$x; fi ;; esac
done
[ -n "$p" ] || failed python 'uv has installed no Python'
progress $((n / 2)) "$n"
uv venv venv --relocatable --no-project --python "$p" "$b/venv"
uv packages pip sync ${isOffline ? '--offline --no-index --find-links "$w" ' : ''}--require-hashes --no-build --compile-bytecode --python "$b/venv/bin/python" "$t/requirements.lock"
${isOffline ? `${pathWord(tool.rm)} -rf "$w"\n` : ''}p=\${p#"$b/"}
case $p in (*[!A-Za-z0-9._+/-]*) failed python 'uv has made a folder of a strange name' ;; esac
own ${pathWord(tool.rm)} "$b/venv/bin/python" || failed venv 'the link to Python could not be removed'
own ${pathWord(tool.tar)} -cf - -C "$b" python venv >"$t.tar" 2>"$d/tar" || failed packages "tar: $(${pathWord(tool.cat)} "$d/tar")"
must bad-archive ${pathWord(tool.tar)} ${tarWords('"$t.tar"')} -C "$t"
must rm ${pathWord(tool.rm)} -rf "$b" "$t.tar"
${staysInside(staged)}if [ ! -f "$t/$p" ] || [ -h "$t/$p" ]; then failed python 'uv has installed no Python'; fi
must link ${pathWord(tool.ln)} -s "$f/$p" "$t/venv/bin/python"
${pathWord(tool.awk)} -v home="$f/\${p%/*}" '/^home = / { $0 = "home = " home } { print }' "$t/venv/pyvenv.cfg" >"$d/cfg" || failed write 'pyvenv.cfg could not be written'
must cp ${pathWord(tool.cp)} "$d/cfg" "$t/venv/pyvenv.cfg"
${writtenLibraries(args.tree)}`,
  )}`;
}

/**
 * Puts the wheels aside, and the archive of Python where uv looks for it below the address of a mirror: in a folder named
 * after its release, which stands in the name of the archive.
 *
 * @see uv reference: UV_PYTHON_INSTALL_MIRROR, which takes file:// as well
 */
const takenApart = `w=$t/wheels
must mkdir ${pathWord(tool.mkdir)} -p "$w"
for x in "$t"/*.whl; do
  [ ! -f "$x" ] || must mv ${pathWord(tool.mv)} -f "$x" "$w/"
done
for x in "$t"/cpython-*+*.tar.gz; do
  [ -f "$x" ] || continue
  v=\${x##*+}
  v=$w/\${v%%-*}
  must mkdir ${pathWord(tool.mkdir)} -p "$v"
  must mv ${pathWord(tool.mv)} -f "$x" "$v/"
done
`;
