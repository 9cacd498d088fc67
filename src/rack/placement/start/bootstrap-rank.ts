import type { RankRecord, ScriptArgs } from '../../../model/node-script.ts';
import { launchdFunctions } from '../../../node/launchd-service.ts';
import { accountFolders, ownerWord, ownLogFunction } from '../../../node/owner-word.ts';
import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import {
  mostLogBytes,
  olderRankLog,
  rankFile,
  rankFilesFolder,
  rankLog,
  serviceFile,
} from '../../../node/paths/own-paths.ts';
import { quote } from '../../../node/quote.ts';
import { rebootMarkFunctions, refuseMarked, wiredFunctions } from '../../../node/wired-memory.ts';

/** The lines of a record but the two that count starts. */
const recordLines = (record: RankRecord): string =>
  Object.entries(record)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

/** The log of a rank, which launchd appends to. Nothing is running now, so this is when one that is too long makes room. */
const keptLog = (placement: string, user: string): string => `${ownLogFunction(user)}
f=${pathWord(rankLog(placement))}
ownlog "$f"
if [ "$(${pathWord(tool.stat)} -f %z "$f")" -gt ${mostLogBytes} ]; then
  must mv ${pathWord(tool.mv)} -f "$f" ${pathWord(olderRankLog(placement))}
  ownlog "$f"
fi
[ ! -e ${pathWord(olderRankLog(placement))} ] || must chmod ${pathWord(tool.chmod)} 600 ${pathWord(olderRankLog(placement))}
`;

type KeptFiles = Pick<ScriptArgs['bootstrap-rank'], 'user' | 'files' | 'links' | 'folders'>;

/**
 * What is kept in a folder belongs to the account that wrote it. After a change of the account it is made again: root does
 * not give away what is in a folder that another account could fill with links.
 */
const withoutOthers = (placement: string, user: string, lasting: readonly string[]): string => `x=\${SUDO_USER:-root}
[ ! -e "$d/owner" ] || IFS= read -r x <"$d/owner"
[ "$x" = ${ownerWord(user)} ] || must rm ${pathWord(tool.rm)} -rf ${lasting.map((name) => pathWord(rankFile(placement, name))).join(' ')}
write "$d/owner" ${ownerWord(user)}"$N"
`;

/** Takes away files of another start with their seals, and makes links and folders anew. */
function keptFiles(placement: string, { user, files, links, folders }: KeptFiles): string {
  const folder = pathWord(rankFilesFolder(placement));
  if (files.length + links.length + folders.length === 0) return `${pathWord(tool.rm)} -rf ${folder}\n`;
  const lasting = folders.filter(({ keeps }) => keeps).map(({ name }) => name);
  const kept = [...files, ...lasting].map((name) => `(${quote(name)}) continue ;;`).join(' ');
  const isKept = kept === '' ? '' : `  case \${f##*/} in ${kept} esac\n`;
  const linked = links.map(
    ({ name, to }) => `must ln ${pathWord(tool.ln)} -s ${pathWord(to)} ${pathWord(rankFile(placement, name))}\n`,
  );
  const made = folders.map(({ name, keeps }) => {
    const word = pathWord(rankFile(placement, name));
    return `must mkdir ${pathWord(tool.mkdir)}${keeps ? ' -p' : ''} ${word}
must chown ${pathWord(tool.chown)} ${ownerWord(user)} ${word}
must chmod ${pathWord(tool.chmod)} 700 ${word}\n`;
  });
  return `${lasting.length === 0 ? '' : withoutOthers(placement, user, lasting)}must mkdir ${pathWord(tool.mkdir)} -p ${folder}
for f in ${folder}/*; do
${isKept}  must rm ${pathWord(tool.rm)} -rf "$f"
done
${linked.join('')}${made.join('')}`;
}

/**
 * Makes a rank ready to be started and starts nothing. It brings its log, which belongs to the account that it runs
 * as, its record and its request, then `launchctl bootstrap` of the service file that was put before. How often the
 * member was started in this boot session is kept over all generations. A service that launchd knows from before is
 * forgotten first, unless it is running: then the caller has to stop it.
 *
 * @see launchctl(1): `enable` undoes a `disable` that outlives bootstraps; bootstrap ends with 5 where it is loaded
 */
export const bootstrapRank = ({
  record,
  request,
  user,
  ...kept
}: ScriptArgs['bootstrap-rank']): string => `${launchdFunctions(record.placement)}
${rebootMarkFunctions}
${wiredFunctions}
p=${pathWord(serviceFile(record.placement))}
[ -e "$p" ] || failed no-service-file "there is no $p"
s='' n=0
[ ! -e "$d/record" ] || while IFS= read -r x; do
  case $x in (startedIn=*) s=\${x#*=} ;; (starts=*) n=\${x#*=} ;; esac
done <"$d/record"
case $n in ('' | *[!0-9]*) s='' n=0 ;; esac
r=${quote(recordLines(record))}"\${N}startedIn=$s\${N}starts=$n"
if look; then
  [ -e "$d/record" ] && [ "$(${pathWord(tool.cat)} "$d/record")" = "$r" ] && unchanged
  [ -z "$pid" ] || failed still-running "an older generation is running as process $pid"
  bootout
fi
${refuseMarked}
must mkdir ${pathWord(tool.mkdir)} -p "$d" ${pathWord(place.log)}
${keptLog(record.placement, user)}${accountFolders(user)}${keptFiles(record.placement, { user, ...kept })}write "$d/request" ${quote(request)}
write "$d/record" "$r$N"
must launchctl ${pathWord(tool.launchctl)} enable "$L"
n=0
until ${pathWord(tool.launchctl)} bootstrap system "$p" >"$d/bootstrap" 2>&1 || look; do
  n=$((n + 1))
  [ "$n" -lt 3 ] || failed launchctl "$(${pathWord(tool.cat)} "$d/bootstrap")"
  ${pathWord(tool.sleep)} 2
done
${pathWord(tool.rm)} -f "$d/bootstrap"
look || failed launchctl 'launchctl took the service and does not show it'
changed`;
