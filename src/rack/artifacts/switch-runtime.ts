import { shortDigest } from '../../model/digest.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { currentLink, treeFolder } from '../../node/paths/tree-paths.ts';
import { hasPrograms } from './staged-tree.ts';

/**
 * Points `current` of a runtime at a version by the rename of a new link over the old one: there is no moment
 * without a version.
 *
 * @see mv(1) of macOS: -h renames over a link to a folder instead of moving into that folder
 */
export function switchRuntime({ tree, programs }: ScriptArgs['switch-runtime']): string {
  const link = pathWord(currentLink(tree.name));
  const version = shortDigest(tree.digest);
  return `iscurrent() {
  [ -h ${link} ] && [ "$(${pathWord(tool.readlink)} ${link})" = ${version} ]
}
iscurrent && unchanged
[ -d ${pathWord(treeFolder(tree))} ] || failed not-published 'this version is not published'
${hasPrograms(pathWord(treeFolder(tree)), programs)}[ -h ${link} ] || [ ! -e ${link} ] || failed odd-link 'current is no link'
${pathWord(tool.rm)} -f ${link}-new
must ln ${pathWord(tool.ln)} -s ${version} ${link}-new
must mv ${pathWord(tool.mv)} -fh ${link}-new ${link}
iscurrent || failed odd-link 'current does not point at the new version'
changed`;
}
