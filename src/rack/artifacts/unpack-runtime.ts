import type { JobArgs, TreeId } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { stagedArchive, stagedExtra, stagedTree, stagingFolder } from '../../node/paths/tree-paths.ts';
import { hasPrograms, ownedByRoot, rootOwns, verified } from './staged-tree.ts';

/**
 * Unpacks the archive of a runtime after its sha256 has been compared, once only root can change it. Archives with a
 * member that would land elsewhere are refused whole. The owners that stand in an archive mean nothing here.
 *
 * @see tar(1) of macOS, which is bsdtar: it finds the compression by itself, and reads zip; hdiutil(1) for disk images
 */
export const unpackRuntime = (args: JobArgs['unpack-runtime']): string =>
  unpackedRuntime(args, `${binFolder(args)}${hasPrograms(`${pathWord(stagedTree(args.tree))}.new`, args.programs)}`);

/**
 * Releases of llama.cpp have all in one folder that is called after the release.
 *
 * @see llama.cpp: .github/workflows/release.yml, "Pack artifacts": `-s ",^\\.,llama-TAG," -C ./build/bin .`
 */
function binFolder({ tree, binHas }: JobArgs['unpack-runtime']): string {
  if (binHas === undefined) return '';
  const staged = `${pathWord(stagedTree(tree))}.new`;
  return `f='' k=0
for x in ${staged}/*/${binHas}; do
  if [ -f "$x" ]; then f=\${x%/*} k=$((k + 1)); fi
done
if [ ! -e ${staged}/bin ] && [ $k -eq 1 ]; then must link ${pathWord(tool.ln)} -s "\${f##*/}" ${staged}/bin; fi
`;
}

/**
 * The same with something between: lines of sh that work in the folder of the unpacked tree, `$t.new`, before it is
 * called whole.
 */
export function unpackedRuntime({ tree, archive, sha256, extras }: JobArgs['unpack-runtime'], between: string): string {
  const staged = pathWord(stagedTree(tree));
  return `a=${pathWord(stagedArchive(tree, archive))}
if [ ! -f "$a" ] || [ -h "$a" ]; then failed no-archive 'the archive is not there'; fi
${rootOwns(pathWord(stagingFolder(tree)))}
n=$(${pathWord(tool.stat)} -f %z "$a")
progress 0 "$n"
x=$(${pathWord(tool.shasum)} -a 256 "$a") || failed shasum 'the sha256 of the archive could not be read'
[ "\${x%% *}" = ${sha256} ] || {
  ${pathWord(tool.rm)} -f "$a"
  failed wrong-digest "the archive has the sha256 \${x%% *}"
}
${archive === 'dmg' ? fromImage(staged) : fromTar(staged)}${extrasInto(tree, extras)}${between}must mv ${pathWord(tool.mv)} -f ${staged}.new ${staged}
progress "$n" "$n"
${ownedByRoot(tree)}
${verified(tree)}`;
}

/**
 * Words of tar that take the owners, set-id bits, access lists and flags of no member: as root bsdtar keeps all of them.
 * Its chown -R leaves links to their owner, too.
 *
 * @see bsdtar(1): --no-same-owner, --no-same-permissions
 */
export const tarWords = (archive: string): string => `-xf ${archive} --no-same-owner --no-same-permissions`;

/** What tar reads, after every member has been looked at. */
const fromTar = (staged: string): string => `must bad-archive ${pathWord(tool.tar)} -tf "$a"
printf '%s\\n' "$o" >"$d/members"
while IFS= read -r x; do
  case /$x/ in (//* | */../*) failed unsafe-archive "a member would land outside: $x" ;; esac
done <"$d/members"
${pathWord(tool.rm)} -rf ${staged} ${staged}.new
must mkdir ${pathWord(tool.mkdir)} -p ${staged}.new
must bad-archive ${pathWord(tool.tar)} ${tarWords('"$a"')} -C ${staged}.new
${holdsFiles(staged)}${staysInside(staged)}`;

/**
 * What lies in the root of a disk image, but links, such as the one to the folder of applications. A mount that a job
 * of before has left is taken away first. Nobody is asked anything: an image that wants its licence accepted is
 * refused.
 *
 * @see hdiutil(1): attach -nobrowse -readonly -noautoopen -mountpoint; ditto(1)
 */
const fromImage = (staged: string): string => `i=${staged}.image
${pathWord(tool.hdiutil)} detach "$i" -force >/dev/null 2>&1
${pathWord(tool.rm)} -rf ${staged} ${staged}.new "$i"
c=${staged}.new
must mkdir ${pathWord(tool.mkdir)} -p "$c" "$i"
must bad-archive ${pathWord(tool.hdiutil)} attach -nobrowse -readonly -noautoopen -mountpoint "$i" "$a"
x=''
for f in "$i"/*; do
  if [ -h "$f" ] || [ ! -e "$f" ]; then continue; fi
  x=$(${pathWord(tool.ditto)} "$f" "$c/\${f##*/}" 2>&1) || { x="ditto: $x"; break; }
  x=''
done
must bad-archive ${pathWord(tool.hdiutil)} detach "$i" -force
must bad-archive ${pathWord(tool.rmdir)} "$i"
[ -z "$x" ] || failed bad-archive "$x"
${holdsFiles(staged)}${staysInside(staged)}`;

/** A tool that unpacks nothing and exits with 0 would leave an empty version, which nothing later distinguishes. */
const holdsFiles = (
  staged: string,
): string => `[ -n "$(${pathWord(tool.find)} ${staged}.new ! -type d)" ] || failed bad-archive 'no file came out of the archive'
`;

/**
 * Ends with `unsafe-archive` where devices, pipes or sockets have come out, links that lead out of the folder or
 * nowhere through `..`, names with a line break, or files that lie elsewhere, too: root changes owners and modes of all
 * that is there.
 *
 * @see stat(1) of macOS: %i inode, %l hard links
 */
export const staysInside = (
  staged: string,
): string => `c=$(cd -P ${staged}.new && pwd -P) || failed bad-archive 'the unpacked folder cannot be entered'
unsafe() {
  failed unsafe-archive "it holds $1: \${2#"$c/"}"
}
x=$(${pathWord(tool.find)} "$c" -name "*$N*") || failed find 'the unpacked files could not be listed'
[ -z "$x" ] || unsafe 'a name with a line break' "$x"
x=$(${pathWord(tool.find)} "$c" ! -type f ! -type d ! -type l) || failed find 'the unpacked files could not be listed'
[ -z "$x" ] || unsafe 'what is neither file, folder nor link' "$x"
${pathWord(tool.find)} "$c" -type f -links +1 -exec ${pathWord(tool.stat)} -f '%i %l' '{}' + >"$d/inodes" || failed find 'the unpacked files could not be listed'
x=$(${pathWord(tool.awk)} '{ n[$1]++; l[$1] = $2 } END { for (i in n) if (n[i] < l[i]) print i }' "$d/inodes") || failed awk 'the unpacked files could not be counted'
[ -z "$x" ] || unsafe 'a file that lies outside, too' "inode $x"
${pathWord(tool.find)} "$c" -type l >"$d/links" || failed find 'the unpacked links could not be listed'
while IFS= read -r x; do
  y=$(${pathWord(tool.readlink)} "$x") || failed readlink 'a link could not be read'
  case $y in (/*) unsafe 'a link that leads out' "$x" ;; (*/..) k=$y/ ;; (..) k=../ ;; (*/*) k=\${y%/*}/ ;; (*) continue ;; esac
  if k=$(cd -P "\${x%/*}/$k" 2>/dev/null && pwd -P); then
    case $k/ in ("$c/"*) ;; (*) unsafe 'a link that leads out' "$x" ;; esac
  else
    case /$y/ in (*/../*) unsafe 'a link that leads nowhere' "$x" ;; esac
  fi
done <"$d/links"
`;

/** Puts the other files of a runtime into its tree, each after its sha256 has been compared. */
const extrasInto = (tree: TreeId, extras: JobArgs['unpack-runtime']['extras']): string =>
  extras
    .map(
      ({ name, sha256 }) => `e=${pathWord(stagedExtra(tree, name))}
if [ ! -f "$e" ] || [ -h "$e" ]; then failed no-archive "$e is not there"; fi
x=$(${pathWord(tool.shasum)} -a 256 "$e") || failed shasum 'the sha256 of a file could not be read'
[ "\${x%% *}" = ${sha256} ] || failed wrong-digest "$e has the sha256 \${x%% *}"
must cp ${pathWord(tool.cp)} "$e" ${pathWord(stagedTree(tree))}.new/
`,
    )
    .join('');
