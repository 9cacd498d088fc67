import type { JobArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { ownedByRoot, stagedTreeFunctions, verified } from './staged-tree.ts';

/**
 * Compares every staged file that the controller has sent, once only root can change it. A wrong one is
 * deleted, so that it is sent anew; the others stay.
 */
export function verifyModel({ tree, files }: JobArgs['verify-model']): string {
  const calls = files.map(({ path, sha256, sizeBytes }) => `verify ${quote(path)} ${sha256} ${sizeBytes}`);
  return `${stagedTreeFunctions(tree, files)}
w=''
verify() {
  if ! ischecked "$@"; then
    compare "$t/$1" "$2" "$3" || {
      ${pathWord(tool.rm)} -f "$t/$1"
      w=\${w:-$1}
      return
    }
  fi
  checked "$2" "$3"
}
${calls.join('\n')}
[ -z "$w" ] || failed wrong-digest "$w"
only
${ownedByRoot(tree)}
${verified(tree)}`;
}
