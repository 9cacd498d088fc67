import { pathWord, place, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { keyMark } from '../../node/withdraw.ts';

/** The access to install on a node, so that the controller can log in and become root. */
export interface AccessWish {
  /** Type and base64 of the key; absent if the node already accepts one. */
  readonly key?: string;
  /** The account that logs in and gets the sudo rule. */
  readonly user: string;
}

/** The result for the key or the rule. */
export type Installed = 'added' | 'kept';

/** The node's answer: the parts that are in place, and why visudo or another tool refused the rule. */
export interface AccessAnswer {
  readonly key?: Installed;
  readonly rule?: Installed;
  readonly refusal?: string;
}

/**
 * Appends one line to `authorized_keys` in a single write: the existing lines are not rewritten, and a symbolic link
 * stays one. Folder and file get the modes that sshd requires.
 *
 * @see sshd(8): StrictModes ignores a file that others can write
 */
function keyLines(key: string): string {
  const [cat, chmod, mkdir, tail] = [tool.cat, tool.chmod, tool.mkdir, tool.tail].map(pathWord);
  return `d=$HOME/.ssh f=$HOME/.ssh/authorized_keys k=${quote(key)} w=added
[ -d "$d" ] || ${mkdir} -m 700 "$d" || exit 1
if [ -e "$f" ]; then
  while IFS= read -r s || [ -n "$s" ]; do
    case $s in ('#'*) ;; ("$k" | "$k "* | *" $k" | *" $k "*) w=kept ;; esac
  done <"$f"
fi
if [ "$w" = added ]; then
  n=
  [ ! -s "$f" ] || [ -z "$(${tail} -c 1 "$f")" ] || n='
'
  printf '%s%s ${keyMark}\\n' "$n" "$k" >>"$f" || exit 1
  ${cat} "$f" >/dev/null || exit 1
fi
${chmod} 700 "$d" && ${chmod} 600 "$f" || exit 1
printf '@key %s\\n' "$w"`;
}

/**
 * The root script that adds the sudo rule to meshwright's file, below the rules of other accounts. sudo ignores names
 * with a dot, so a file that visudo rejects never takes effect.
 *
 * @see sudoers(5): files of an included folder that have a dot in their name are ignored; mode 0440, owned by root
 */
export function ruleText(rootPrefix: string, user: string): string {
  const [cat, chmod, chown, mkdir, mv, rm, visudo] = [
    ...[tool.cat, tool.chmod, tool.chown, tool.mkdir, tool.mv, tool.rm, tool.visudo],
  ].map(pathWord);
  const folder = pathWord(place.sudoersFolder);
  // The leading line end marks the quoted rule as data for readers of this script.
  const rule = quote(`\n${sudoRule(user)}`);
  return `${rootLine(rootPrefix)}
export LC_ALL=C
umask 077
d=${folder} f=${pathWord(place.sudoersDropIn)} n=${folder}/.meshwright.new w=added
N='
'
r=${rule}
refuse() {
  ${rm} -f "$n"
  printf '@refused %s\\n' "$1"
  exit 1
}
[ -d "$d" ] || ${mkdir} -m 755 "$d" || exit 1
if [ -e "$f" ]; then
  while IFS= read -r s || [ -n "$s" ]; do [ "$N$s" != "$r" ] || w=kept; done <"$f"
  o=$(${cat} "$f") || exit 1
else o='# meshwright: lets this account run its scripts as root. Remove this file to end that.'
fi
if [ "$w" = added ]; then
  printf '%s%s\\n' "$o" "$r" >"$n" || refuse 'the rule could not be written'
  o=$(${visudo} -cf "$n" 2>&1) || refuse "visudo: $o"
  { ${chmod} 0440 "$n" && ${chown} root:wheel "$n" && ${mv} -f "$n" "$f"; } || refuse 'the rule could not be put in its place'
fi
printf '@rule %s\\n' "$w"`;
}

/**
 * The command line of the exec request that installs the access. Its standard input is the password and a line end.
 * Only sudo reads this input and then finds its end, so it tries a wrong password only once. The root script is an
 * argument: on standard input, a Mac that asks for no password would run the password as a command.
 */
export function installAccessCommand(rootPrefix: string, { key, user }: AccessWish): string {
  const [sudo, sh] = [tool.sudo, tool.sh].map(pathWord);
  const own = key === undefined ? '' : `{\n${keyLines(key)}\n} </dev/null\n`;
  return shellCommand(`${rootLine(rootPrefix)}
export LC_ALL=C
umask 077
${own}exec ${sudo} -S -p '' -k ${sh} -c ${quote(ruleText(rootPrefix, user))}`);
}

const installed = (word: string | undefined): Installed | undefined =>
  word === 'added' || word === 'kept' ? word : undefined;

/** Reads the output of {@link installAccessCommand}; unknown words are ignored. */
export function readAccessAnswer(stdout: string): AccessAnswer {
  const said = (name: string): string | undefined =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`@${name} `))
      ?.slice(name.length + 2);
  const [key, rule, refusal] = [installed(said('key')), installed(said('rule')), said('refused')];
  return { ...(key && { key }), ...(rule && { rule }), ...(refusal !== undefined && { refusal }) };
}
