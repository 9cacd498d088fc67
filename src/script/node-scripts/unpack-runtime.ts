import type { JobArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../node-paths.ts';
import { stagedArchive, stagedTree, stagingFolder } from '../tree-paths.ts';
import { ownedByRoot, verified } from './staged-tree.ts';

/**
 * Unpacks the archive of a runtime after its sha256 has been compared, once nobody but root can change it any more.
 * Archives with a member that would land elsewhere are refused whole. The owners that stand in an archive mean nothing here.
 *
 * @see tar(1) of macOS, which is bsdtar: it finds the compression by itself, and reads zip
 */
export function unpackRuntime({ tree, archive, sha256 }: JobArgs['unpack-runtime']): string {
  const staged = pathWord(stagedTree(tree));
  return `a=${pathWord(stagedArchive(tree, archive))}
if [ ! -f "$a" ] || [ -h "$a" ]; then failed no-archive 'the archive is not there'; fi
must chown ${pathWord(tool.chown)} -R root:wheel ${pathWord(stagingFolder(tree))}
n=$(${pathWord(tool.stat)} -f %z "$a")
progress 0 "$n"
x=$(${pathWord(tool.shasum)} -a 256 "$a") || failed shasum 'the sha256 of the archive could not be read'
[ "\${x%% *}" = ${sha256} ] || {
  ${pathWord(tool.rm)} -f "$a"
  failed wrong-digest "the archive has the sha256 \${x%% *}"
}
must bad-archive ${pathWord(tool.tar)} -tf "$a"
printf '%s\\n' "$o" >"$d/members"
while IFS= read -r x; do
  case /$x/ in (//* | */../*) failed unsafe-archive "a member would land outside: $x" ;; esac
done <"$d/members"
${pathWord(tool.rm)} -rf ${staged} ${staged}.new
must mkdir ${pathWord(tool.mkdir)} -p ${staged}.new
must bad-archive ${pathWord(tool.tar)} -xf "$a" -C ${staged}.new
must mv ${pathWord(tool.mv)} -f ${staged}.new ${staged}
progress "$n" "$n"
${ownedByRoot(tree)}
${verified(tree)}`;
}
