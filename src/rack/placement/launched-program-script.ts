import type { NodePath } from '../../model/probe.ts';
import { refusalValues } from '../../node/owner-word.ts';
import { pathWord, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { accountEnvironment, accountHome, accountTemporary } from '../../node/paths/own-paths.ts';
import { quote } from '../../node/quote.ts';
import { sh } from '../../node/shell/scripts.generated.ts';

/** One rank of a user's own program. */
export interface LaunchedRank {
  readonly rootPrefix: string;
  /** The run's folder on this node, which the rank's script creates and removes. */
  readonly folder: NodePath;
  readonly files: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly words: readonly string[];
  /** A program in the run's folder, in base64; absent if the node has the program. */
  readonly upload?: { readonly name: string; readonly base64: string };
  /** True if the program reads the lines that follow the script on standard input; otherwise it reads nothing. */
  readonly isTalking?: boolean;
}

/** The pipe through which a talking program gets its lines, in the run's folder. */
const talkPipe = 'lines';

/** The account that runs a rank, if it differs from the SSH user. */
export interface LaunchAccount {
  readonly name: string;
  /** True if it uses the folders of placement ranks instead of its own home. */
  readonly isOfRanks: boolean;
}

/** The user who called sudo, as a shell word in a script that runs as root. @see sudo(8), ENVIRONMENT: SUDO_USER */
const loginWord = '"${SUDO_USER:-root}"';

/** Refuses an account that can become root; empty for the SSH user. */
const refuseRoot = (user: string): string =>
  user === '' ? '' : `${sh.refuseRoot(refusalValues)}\nrefuse_root ${quote(user)}\n`;

/** Creates the folders that an account may write to; needs `own-folder.sh`. Empty for the SSH user, who has a home. */
const accountFolders = (user: string): string =>
  user === ''
    ? ''
    : `[ ${quote(user)} = ${loginWord} ] || for x in ${pathWord(accountHome(user))} ${pathWord(accountTemporary(user))}; do
  must mkdir ${pathWord(tool.mkdir)} -p "$x"
  ownfolder "$x" ${quote(user)}
done
`;

/** Variables that would connect a rank to the group of another program. */
const foreign =
  'MLX_RANK MLX_HOSTFILE MLX_IBV_DEVICES MLX_JACCL_COORDINATOR MLX_JACCL_RING JACCL_RANK JACCL_IBV_DEVICES JACCL_COORDINATOR';

/** EX_CANTCREAT of sysexits(3): the rank's folder could not be created. */
const cannotCreate = 73;

/** Creates the run's folder `d`, which the shell removes when it exits, and its files. */
function makeFolder({ folder, files, upload, isTalking = false }: LaunchedRank): string {
  const written = Object.entries(files).map(
    ([name, text]) => `printf '%s' ${quote(text)} >"$d"/${quote(name)} || exit ${cannotCreate}\n`,
  );
  return `umask 077
d=${pathWord(folder)}
${pathWord(tool.mkdir)} "$d" || exit ${cannotCreate}
trap '${pathWord(tool.rm)} -rf "$d"' EXIT
${written.join('')}${upload === undefined ? '' : uploaded(upload)}${
  isTalking ? `${pathWord(tool.mkfifo)} "$d"/${talkPipe} || exit ${cannotCreate}\n` : ''
}`;
}

/** Only printf, which is part of the shell, gets the whole program as an argument. */
const uploaded = ({ name, base64 }: NonNullable<LaunchedRank['upload']>): string => `
printf '%s' ${quote(base64)} | ${pathWord(tool.base64)} -D >"$d"/${quote(name)} &&
  ${pathWord(tool.chmod)} 755 "$d"/${quote(name)} || exit ${cannotCreate}
`;

/**
 * Runs a command as a rank and exits with its exit code. When file descriptor 3 closes, on request or because the
 * connection is gone, the rank and all its descendants get SIGTERM, and SIGKILL ten seconds later. `kill` runs as the
 * rank's account, because a process ID may belong to another process by then.
 */
const livingRank = (command: string, kill = 'kill', isTalking = false): string => `trap '' HUP PIPE
family() {
  ${pathWord(tool.ps)} -ax -o pid= -o ppid= 2>/dev/null | ${pathWord(tool.awk)} -v top="$p" '{ parent[$1] = $2 }
END { for (one in parent) { up = one; n = 0; while (up in parent && n++ < 64) { up = parent[up]; if (up == top) { print one; break } } } }'
}
alive() {
  for q; do
    kill -0 "$q" && return
  done
  return 1
}
(trap - HUP PIPE; exec 3<&-; exec ${command}${isTalking ? ` <"$d"/${talkPipe}` : ''}) &
p=$!
{
  ${isTalking ? `while IFS= read -r x <&3; do printf '%s\\n' "$x"; done >"$d"/${talkPipe}` : 'while IFS= read -r x <&3; do :; done'}
  true >"$d/ending"
  # What stands still starts nothing more: then the family is whole, and nothing of it is forgotten.
  set -- "$p"
  k=0 n=0
  while [ "$n" -lt 20 ]; do
    ${kill} -STOP "$@"
    set -- "$p" $(family)
    [ "$#" -ne "$k" ] || break
    k=$# n=$((n + 1))
  done
  ${kill} -TERM "$@"
  ${kill} -CONT "$@"
  n=0
  while alive "$@" && [ "$n" -lt 40 ]; do
    ${pathWord(tool.sleep)} 0.25
    n=$((n + 1))
  done
  ${kill} -KILL "$@"
} >/dev/null 2>&1 &
w=$!
exec 3<&-
wait "$p"
c=$?
# What the rank has started itself may outlive it for a moment.
if [ -e "$d/ending" ]; then wait "$w"; else kill -KILL "$w" 2>/dev/null; fi
exit "$c"`;

/** The command that runs a rank as the SSH user for as long as the command's standard input is open. */
export const launchRankCommand = (rank: LaunchedRank): string => shellCommand(launchAsLogin(rank));

function launchAsLogin(rank: LaunchedRank): string {
  const set = Object.entries(rank.environment).map(([name, value]) => `${name}=${quote(value)}\nexport ${name}\n`);
  return `${rootLine(rank.rootPrefix)}
export R
unset ${foreign}
${makeFolder(rank)}${set.join('')}exec 3<&0 </dev/null
${livingRank(rank.words.map(quote).join(' '), 'kill', rank.isTalking)}`;
}

/** The same as a script for `sh -s`, because an uploaded program is too long for a command line. */
export const launchLoginScript = (rank: LaunchedRank): string => `{\n${launchAsLogin(rank)}\n}\n`;

/**
 * The script that runs a rank of `launch` as another account. Every start checks that this account cannot become root.
 * Root only creates the folder, waits, and stops the rank; the program inherits nothing from root's environment. The
 * rank runs for as long as standard input remains open after the script.
 * @see sudo(8): `-u` runs as another account, `-H` sets its home; the sudoers of macOS keep HOME otherwise
 */
export function launchRankScript(rank: LaunchedRank, { name, isOfRanks }: LaunchAccount): string {
  const paths = isOfRanks ? Object.entries(accountEnvironment(name)) : [];
  const set = [
    'PATH="$PATH"',
    ...paths.map(([key, path]) => `${key}=${pathWord(path)}`),
    ...Object.entries(rank.environment).map(([key, value]) => `${key}=${quote(value)}`),
  ];
  const as = [pathWord(tool.sudo), '-n', '-H', '-u', quote(name)];
  const command = [
    ...[...as, pathWord(tool.env), '-u', 'LC_ALL', ...set],
    ...[pathWord(tool.sh), '-c', quote('cd && exec "$@"'), 'sh', ...rank.words.map(quote)],
  ];
  const ownFiles = Object.keys(rank.files).map((file) => `"$d"/${quote(file)}`);
  return `{
# A shell complains when it starts in a folder that its account cannot enter, as the home of the ssh user.
cd / || exit
${rootLine(rank.rootPrefix)}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
failed() {
  printf '%s\\n' "$2" >&2
  exit ${cannotCreate}
}
${sh.must({})}
${refuseRoot(name)}${isOfRanks ? `${sh.ownFolder({})}\n${accountFolders(name)}` : ''}${makeFolder(rank)}
# The folder stays root's: what root writes into it, the account must not be able to lead elsewhere.
${ownFiles.length === 0 ? '' : `must chown ${pathWord(tool.chown)} ${quote(name)} ${ownFiles.join(' ')}`}
must chmod ${pathWord(tool.chmod)} 711 "$d"
${livingRank(command.join(' '), [...as, pathWord(tool.kill)].join(' '), rank.isTalking)}
} 3<&0 </dev/null
`;
}
