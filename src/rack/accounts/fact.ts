import { type MacAccount, type MacAccounts, ownAccounts, ownNumbers } from '../../model/account.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import { isUuid } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { recordProbe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

/**
 * Lists personal accounts, which have numbers from 501 on, and our own: for each one `account NAME`, its record, and
 * `groups` with its group names. Then, for our accounts, what was written at their creation. Then, for each account that
 * ran tests, `checked NAME`, the macOS build, its number and the test names; a failed test begins with `!`. The last
 * line is `end`. The file `users` is in the probe's private folder. The tools run in the background, because a shell
 * handles no signal while a foreground tool runs.
 *
 * @see dscl(1): -list and -read of the local node need no root; for a missing key, dscl prints to stderr and exits with 0
 * @see id(1): -G -n, which asks the directory for the groups of an account
 */
const script = `trap "kill -9 \\$!; wait; exit 142" ALRM HUP TERM
r() { "$@" & wait $!; }
r ${pathWord(tool.dscl)} . -list /Users UniqueID >users || exit
while read -r n u; do
case $n,$u in (${ownAccounts.map((name) => `${name},*`).join('|')}) ;; (_*|*,*[!0-9]*) continue ;; (*) [ "$u" -gt 500 ] || continue ;; esac
printf "account %s\\n" "$n"
r ${pathWord(tool.dscl)} . -read "/Users/$n" GeneratedUID NFSHomeDirectory Password PrimaryGroupID UniqueID UserShell || exit
printf "groups "
r ${pathWord(tool.id)} -Gn "$n" || printf "\\n"
done <users
for n in ${ownAccounts.join(' ')}; do
f=${pathWord(place.accounts)}/$n
[ ! -e "$f.begun" ] || printf "begun %s\\n" "$n"
[ ! -e "$f" ] || { read -r x; printf "made %s %s\\n" "$n" "$x"; } <"$f"
done
for f in ${pathWord(place.accounts)}/*.checked; do
[ -e "$f" ] || continue
n=\${f##*/}
printf "checked %s" "\${n%.checked}"
while read -r x; do printf " %s" "$x"; done <"$f"
printf "\\n"
done
printf "end\\n"`;

const accountRecords = recordProbe('accounts', script, 10_000);

export const isAccountName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(text);

export const accountsFact = defineFact({
  name: 'accounts',
  from: [accountRecords],
  parse: ([answer]): Known<MacAccounts> =>
    andThen(readLines(answer), (lines) => {
      if (lines.at(-1) !== 'end') return unknown('truncated', 'The list of accounts is incomplete.');
      const found = read(lines.slice(0, -1));
      return found === undefined ? garbled(answer, 'printed an unreadable account') : known(found);
    }),
  text: ({ accounts, begun, checked }) => {
    const ours = [...accounts.map(accountText), ...begun.map((name) => `${name} half created`)];
    const tested = checked.flatMap((one) => [...testedText(one, 'passed'), ...testedText(one, 'failed')]);
    return [ours.length === 0 ? 'none' : ours, ...tested];
  },
});

const accountText = ({ name, uid, groups }: MacAccount): string =>
  `${name} ${uid ?? 'without a number'}${groups.includes('admin') ? ' (administrator)' : ''}`;

type MadeAccount = MacAccounts['made'][number];
type CheckedAccount = MacAccounts['checked'][number];

const testedText = (one: CheckedAccount, result: 'passed' | 'failed'): readonly string[] =>
  one[result].length === 0 ? [] : [`${one.name} ${result} on ${one.build}: ${one[result].map(testText).join(', ')}`];

function testText(test: string): string {
  const [kind = '', digits = ''] = test.split('-');
  const word = { home: 'home', rdma: 'RDMA', files: 'files', gpu: 'GPU' }[kind] ?? kind;
  return digits === '' ? word : `${word} (${digits.slice(0, 16)})`;
}

/** Reads blocks from `account NAME` to `groups …`, then the lines about our accounts and about tests. */
function read(lines: readonly string[]): MacAccounts | undefined {
  const accounts: MacAccount[] = [];
  const made: MadeAccount[] = [];
  const begun: string[] = [];
  const checked: CheckedAccount[] = [];
  let block: string[] | undefined;
  for (const line of lines) {
    const [word = '', name = '', ...rest] = line.split(' ');
    if (block === undefined && word === 'account' && name !== '' && rest.length === 0) block = [name];
    else if (block !== undefined && word === 'groups') {
      const account = accountOf(block, [name, ...rest]);
      if (account === undefined) return undefined;
      // Skips names that a cluster file cannot contain: directory services also allow `ann@example.com` and `0123`.
      if (isAccountName(account.name)) accounts.push(account);
      block = undefined;
    } else if (block !== undefined) block.push(line);
    else if (word === 'begun' && isAccountName(name)) begun.push(name);
    else if (word === 'made' && isAccountName(name)) {
      const one = madeOf(name, rest.join(' '));
      if (one === undefined) return undefined;
      made.push(one);
    } else if (word === 'checked') {
      // Unreadable results count as not passed: the next check rewrites the file.
      checked.push(...(isAccountName(name) ? checkedOf(name, rest) : []));
    } else return undefined;
  }
  const names = [...[accounts, made, checked].map((all) => all.map(({ name }) => name)), begun];
  const isWhole = block === undefined && names.every((all) => new Set(all).size === all.length);
  return isWhole ? { accounts, made, begun, checked } : undefined;
}

function madeOf(name: string, text: string): MadeAccount | undefined {
  const [, uid = '', generatedUid = ''] = /^uid=(\d{1,9}) id=(\S+)$/.exec(text) ?? [];
  return isUuid(generatedUid) ? { name, uid: Number(uid), generatedUid } : undefined;
}

/** `build=25E246 uid=450 home files-… !rdma gpu-…`; a failed test begins with `!`. */
function checkedOf(name: string, words: readonly string[]): readonly CheckedAccount[] {
  const [, build = '', uid = ''] = /^build=([0-9A-Za-z]{1,16}) uid=(\d{1,9})$/.exec(words.slice(0, 2).join(' ')) ?? [];
  const tests = words.slice(2);
  const isRead =
    build !== '' && tests.every((one) => /^!?(?:home|rdma|files-[0-9a-f]{16}|gpu-[0-9a-f]{64})$/.test(one));
  const passed = tests.filter((one) => !one.startsWith('!'));
  const failed = tests.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  return isRead ? [{ name, build, uid: Number(uid), passed, failed }] : [];
}

/** A UID or GID; macOS has -2 for the account `nobody`. */
const numberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;

/** Parses `KEY: value` lines; dscl prints a value that contains a space on the next line. */
function accountOf([name = '', ...lines]: readonly string[], groups: readonly string[]): MacAccount | undefined {
  const values = new Map<string, string>();
  let key = '';
  for (const line of lines) {
    const [, start, value] = /^([A-Za-z]+):(?: (.*))?$/.exec(line) ?? [];
    if (start !== undefined) {
      key = start;
      values.set(key, value ?? '');
    } else if (line.startsWith(' ') && values.get(key) === '') values.set(key, line.trim());
    else if (!line.startsWith('No such key: ')) return undefined;
  }
  const uid = numberIn(values.get('UniqueID'));
  const gid = numberIn(values.get('PrimaryGroupID'));
  const id = values.get('GeneratedUID');
  const [home, shell] = [values.get('NFSHomeDirectory'), values.get('UserShell')];
  return {
    name,
    ...given({ uid, gid, home, shell }),
    ...(id !== undefined && isUuid(id) ? { generatedUid: id } : {}),
    hasPassword: values.get('Password') !== '*' && values.has('Password'),
    groups: groups.filter((one) => one !== ''),
  };
}

/** True if a record has every value that `apply` gives our accounts: no password, no shell, a number in our range. */
export function isLikeOurs({ uid, gid, home, shell, hasPassword }: MacAccount): boolean {
  const isOurNumber = uid !== undefined && uid >= ownNumbers.first && uid <= ownNumbers.last && gid === uid;
  return isOurNumber && home === place.emptyHome.path && shell === tool.false.path && !hasPassword;
}
