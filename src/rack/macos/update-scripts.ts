import { type Digest, digestOf } from '../../model/digest.ts';
import type { NodeName } from '../../model/node.ts';
import type { JobArgs } from '../../model/node-script.ts';
import type { MacosInstall } from '../../model/step.ts';
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

export const installMacos = ({ label, user = '' }: JobArgs['install-macos']): string =>
  sh.installMacos({ label, user });

/** The arguments of the job that installs an update. */
export const installArgs = ({ label, by }: MacosInstall, user: string): JobArgs['install-macos'] =>
  by === undefined ? { label, user } : { label };

/** The key of the job that installs an update in this boot session: at most one does. */
export const installKey = (node: NodeName, from: string): Digest => digestOf({ node, from, name: 'install-macos' });

/** Ends a job that waits for an ordered installation, because the program has refused the order. */
export const refuseOrder = (key: Digest, why: string): string => `f=${pathWord(jobFolder(key))}
[ -e "$f/pid" ] || unchanged
write "$f/refused" ${quote(`${why}\n`)}
n=0
until [ -e "$f/rc" ]; do
  n=$((n + 1))
  [ "$n" -lt 100 ] || failed not-ended 'the job that waits for the update has not ended'
  ${pathWord(tool.sleep)} 0.1
done
changed
`;

/**
 * Comes before the launch of an installation: in one boot session, it is launched again only after the tool has reported
 * a failure. Without a result, a second launch could install twice. A run that sends the script again after a lost
 * connection finds its own launch.
 */
export const onceInSession = (key: Digest, from: string, run: string): string =>
  `[ "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" = ${quote(from)} ] || unchanged
f=${pathWord(jobFolder(key))}
if [ -e "$f/pid" ]; then
  if [ ! -e "$f/failure" ]; then
    IFS= read -r x <"$f/by"
    [ "$x" = ${quote(run)} ] || unchanged
    changed
  fi
fi
must mkdir ${pathWord(tool.mkdir)} -p "$f"
write "$f/by" ${quote(`${run}\n`)}
`;
