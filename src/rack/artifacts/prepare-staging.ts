import type { ScriptArgs } from '../../model/node-script.ts';
import { ownerWord } from '../../node/owner-word.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { stagedTree, stagingFolder, verifiedMark } from '../../node/paths/tree-paths.ts';

/**
 * Makes the staging folder of a tree, so that the ssh user can write into it. What lies there stays; a tree that is
 * verified already stays as it is, out of the user's hands.
 */
export function prepareStaging({ tree, user }: ScriptArgs['prepare-staging']): string {
  const mark = pathWord(verifiedMark(tree));
  return `if [ -e ${mark} ] && [ -d ${pathWord(stagedTree(tree))} ]; then
  IFS= read -r x <${mark}
  [ "$x" = ${tree.digest} ] && unchanged
fi
must mkdir ${pathWord(tool.mkdir)} -p ${pathWord(stagedTree(tree))}
must rm ${pathWord(tool.rm)} -f ${mark}
must chown ${pathWord(tool.chown)} -R ${ownerWord(user)} ${pathWord(stagingFolder(tree))}
changed`;
}
