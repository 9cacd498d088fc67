import type { ScriptArgs } from '../../model/node-script.ts';
import { below, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { currentLink, versionsFolder } from '../../node/paths/tree-paths.ts';

/**
 * Deletes versions of a runtime, each by the digits that name its folder; never the current one. A version leaves its
 * place by one rename before its files are deleted.
 */
export function removeRuntimeVersions({ name, digests }: ScriptArgs['remove-runtime-versions']): string {
  const folder = pathWord(versionsFolder({ kind: 'runtime', name }));
  const link = pathWord(currentLink(name));
  return `y='' c=''
[ ! -h ${link} ] || c=$(${pathWord(tool.readlink)} ${link})
gone() {
  [ "$1" != "$c" ] || failed current-version "version $1 is the current one"
  [ -d ${folder}/"$1" ] || return 0
  g=${pathWord(below(place.opt, 'staging/.removed'))}-$$-$1
  must mkdir ${pathWord(tool.mkdir)} -p "\${g%/*}"
  must mv ${pathWord(tool.mv)} -f ${folder}/"$1" "$g"
  must rm ${pathWord(tool.rm)} -rf "$g"
  y=1
}
${digests.map((digest) => `gone ${versionWord(digest)}`).join('\n')}
[ -n "$y" ] || unchanged
changed`;
}

/** @throws Error when it is no digest, which is our own value: it becomes part of a path that is deleted */
function versionWord(digest: string): string {
  if (!/^[0-9a-f]{16,64}$/.test(digest)) throw new Error('a version is named by at least 16 hexadecimal digits');
  return digest.slice(0, 16);
}
