import { pathWord, place, rootLine, shellCommand, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { keyMark } from '../../node/withdraw.ts';

/** What is to be put on a node so that the controller may log in and become root there. */
export interface AccessWish {
  /** Type and base64 of the key; absent when the node accepts one already. */
  readonly key?: string;
  /** The account that logs in, whose rule of sudo is installed. */
  readonly user: string;
}

/** What became of one of the two. */
export type Installed = 'added' | 'kept';

/** What the node said: what is in place, and why the rule is not when visudo or a tool refused it. */
export interface AccessAnswer {
  readonly key?: Installed;
  readonly rule?: Installed;
  readonly refusal?: string;
}

/**
 * Adds one line to `authorized_keys` by a single write at its end, so that nothing that is there is written again and
 * a link stays one; folder and file get the modes that sshd asks for.
 *
 * @see sshd(8): StrictModes ignores a file that others may write
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
 * The script of root that puts the rule into the file of meshwright, below the rules of other accounts there. What visudo does not
 * find right never gets the name that sudo reads: names with a dot are left out by it.
 *
 * @see sudoers(5): files of an included folder that have a dot in their name are ignored; mode 0440, owned by root
 */
export function ruleText(rootPrefix: string, user: string): string {
  const [cat, chmod, chown, mkdir, mv, rm, visudo] = [
    ...[tool.cat, tool.chmod, tool.chown, tool.mkdir, tool.mv, tool.rm, tool.visudo],
  ].map(pathWord);
  const folder = pathWord(place.sudoersFolder);
  // A line end before it: what stands in quotes over several lines is data to whoever reads this script.
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
 * The command line for an exec request that installs what is wished for. Its standard input is the password and a line
 * end: sudo alone reads it, and finds the end of its input behind it, so that a wrong one is tried once. The script of
 * root stands in the arguments, where no password is: on standard input a Mac that asks for none would run it.
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

/** Reads what {@link installAccessCommand} printed; a word that nobody knows is none. */
export function readAccessAnswer(stdout: string): AccessAnswer {
  const said = (name: string): string | undefined =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(`@${name} `))
      ?.slice(name.length + 2);
  const [key, rule, refusal] = [installed(said('key')), installed(said('rule')), said('refused')];
  return { ...(key && { key }), ...(rule && { rule }), ...(refusal !== undefined && { refusal }) };
}
