import type { ScriptArgs } from '../../model/node-script.ts';
import { jobFolderFunctions, jobKeyWord } from '../../node/job-folders.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { libraryList, stagedTree, stagingFolder, treeFolder, verifiedMark } from '../../node/paths/tree-paths.ts';
import { sealedTreeFunctions } from './sealed-tree.ts';

/**
 * Publishes a staged tree by one rename: it is there whole or not at all. Only a tree that a job has verified
 * is taken, and a published one that is intact stays. One that was changed makes room first; its files are deleted
 * after the new ones stand in their place. What was only needed to get there goes with it.
 */
export function publishTree({ tree, jobs }: ScriptArgs['publish-tree']): string {
  const staging = pathWord(stagingFolder(tree));
  const mark = pathWord(verifiedMark(tree));
  const staged = pathWord(stagedTree(tree));
  const libraries = pathWord(libraryList(tree));
  const published = treeFolder(tree);
  const to = pathWord(published);
  const trash = ['replaced', 'removed'].map((name) => `${pathWord(below(place.opt, `staging/.${name}`))}-*`);
  return `${sealedTreeFunctions}
${jobFolderFunctions}
tidy() {
  ${pathWord(tool.rm)} -rf ${staging} ${trash.join(' ')}
  for k in ${jobs.map(jobKeyWord).join(' ')}; do cleared "$k"; done
}
if intact ${to} ${tree.digest}; then
  tidy
  unchanged
fi
x=''
[ ! -e ${mark} ] || IFS= read -r x <${mark}
if [ "$x" != ${tree.digest} ] || [ ! -d ${staged} ]; then
  failed not-verified 'the staged tree has not been verified'
fi
${pathWord(tool.rm)} -rf ${trash.join(' ')}
y=''
if [ -e ${libraries} ]; then
  [ -f ${libraries} ] || failed read 'the list of libraries is no file'
  while IFS= read -r x; do y=$y$x$N; done <${libraries} || failed read 'the list of libraries could not be read'
fi
seal ${staged} ${tree.digest} "$y"
t=${to}
must mkdir ${pathWord(tool.mkdir)} -p "\${t%/*}"
g=${pathWord(below(place.opt, 'staging/.replaced'))}-$$
[ ! -e "$t" ] || must mv ${pathWord(tool.mv)} -f "$t" "$g"
must mv ${pathWord(tool.mv)} -f ${staged} "$t"
intact "$t" ${tree.digest} || failed not-intact 'the tree changed while it was published'
tidy
changed`;
}
