import { type Digest, digestOf } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import type { JobArgs } from '../../model/node-script.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { jobFolder } from '../../node/paths/own-paths.ts';
import { quote } from '../../node/quote.ts';
import { sh } from './scripts.generated.ts';

/** Asks Apple's server what this Mac is offered, which takes longer than the list of the last scan. */
export const updateListCommand = (rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.softwareupdate)} --list`);

export const downloadMacos = (args: JobArgs['download-macos']): string => sh.downloadMacos(args);

export const installMacos = (args: JobArgs['install-macos']): string => sh.installMacos(args);

/** The key of the job that installs an update in this boot session: at most one does. */
export const installKey = (node: NodeName, from: string): Digest => digestOf({ node, from, name: 'install-macos' });

/**
 * Comes before the launch of an installation: in one boot session, it is launched again only after the tool has reported
 * a failure. Without a result, a second launch could install twice.
 */
export const onceInSession = (key: Digest, from: string): string =>
  `[ "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" = ${quote(from)} ] || unchanged
f=${pathWord(jobFolder(key))}
if [ -e "$f/pid" ]; then
  [ -e "$f/failure" ] || unchanged
fi
`;
