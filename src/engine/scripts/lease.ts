/**
 * The lease of a node: a folder `lease` that one run makes by `mkdir`, with a file `owner` and a counter `beat`. A run
 * that waits for it judges by its own clock whether the beat still moves, and steals it by renaming the folder: a
 * rename has one winner. It then looks at what it has renamed: a lease of another run, or one under which a script
 * runs, is put back; scripts of its run that begin meanwhile find no lease and do nothing. A folder that cannot be put
 * back stays beside the next lease, and that one is not taken until the scripts of the old one have ended. Writers stand inside of
 * the folder, so that they never write into a folder that came after theirs.
 */
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { busyPrefix, type Fence, isScript, leaseLostExit, rootScript, type ScriptEnd } from '../../node/root-script.ts';
import { recordBaselineLines } from '../../rack/uninstall/baseline.ts';

/** A lease as somebody has seen it; without a run when its owner died before he had signed it. */
export interface SeenLease {
  readonly run?: string;
  readonly token?: number;
  readonly beat: number;
  /** Every line of the owner file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** How an attempt to take a lease ended. */
export type LeaseAnswer =
  /** The boot session of the node is empty where it could not be read. */
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  | { readonly kind: 'failed'; readonly text: string };

/** Reads what the scripts that take a lease print. */
export function readLeaseAnswer({ exit, stdout, stderr }: ScriptEnd): LeaseAnswer {
  const [first = '', ...lines] = stdout.split('\n');
  const isSuccess = exit.kind === 'exited' && exit.code === 0;
  const [, token, bootSession = ''] = /^@taken (\d{1,15}) (\S*)$/.exec(first) ?? [];
  if (isSuccess && token !== undefined) return { kind: 'taken', token: Number(token), bootSession };
  if (isSuccess && first === '@held') return { kind: 'held', lease: seenLease(lines) };
  return { kind: 'failed', text: stderr.trim().split('\n').at(-1) || 'without a word' };
}

function seenLease(lines: readonly string[]): SeenLease {
  const entries = lines.flatMap((line) => {
    const [, key, value] = /^\|([a-z]+)=(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key, value ?? ''] as const];
  });
  const { beat, ...fields } = Object.fromEntries(entries) as Readonly<Record<string, string>>;
  const { run, token } = fields;
  const signed = run === undefined || !/^\d{1,15}$/.test(token ?? '') ? {} : { run, token: Number(token) };
  return { ...signed, beat: /^\d{1,15}$/.test(beat ?? '') ? Number(beat) : 0, fields };
}

/** Who asks for a lease. Every value is one line. */
export interface LeaseClaim {
  readonly run: string;
  /** `user@host`. */
  readonly owner: string;
  readonly verb: string;
  readonly phase: string;
  /** Digits of the controller. */
  readonly controller: string;
  /** The process of the run on its controller, and when it began. */
  readonly pid: number;
  readonly start: string;
  /** ISO 8601, by the controller's clock. */
  readonly since: string;
}

/** Names in the folder of meshwright: a lease that was renamed to be removed is called so, with a process number. */
const [stolen, released] = ['stolen', 'released'];

/** Prints `held`, then what is known of the lease, and ends. */
const shown = `shown() {
  printf '@held\\n'
  while IFS= read -r x || [ -n "$x" ]; do printf '|%s\\n' "$x"; done <"$b/lease/owner"
  IFS= read -r x <"$b/lease/beat" && printf '|beat=%s\\n' "$x"
  exit 0
} 2>/dev/null`;

/** `owned FOLDER RUN TOKEN`: whether the lease in that folder is of this run and token; both empty: of nobody. */
const owned = `owned() {
  r='' t=''
  [ ! -e "$1/owner" ] || while IFS= read -r x; do
    case $x in (run=*) r=\${x#*=} ;; (token=*) t=\${x#*=} ;; esac
  done <"$1/owner"
  [ "$r" = "$2" ] && [ "$t" = "$3" ]
}`;

/** `isbusy FOLDER …`: whether a script of these leases still runs, whatever became of its connection. */
const busy = `${isScript}
isbusy() {
  for x; do
    for k in "$x/${busyPrefix}"*; do
      if isscript "$k"; then return 0; fi
    done
  done
  return 1
}`;

/** What {@link away} returns when a script still runs under the lease. */
const stillBusy = 2;

/**
 * `isasseen FOLDER RUN TOKEN [BEAT]` compares a lease. `away SUFFIX RUN TOKEN [BEAT]` renames the one that is there,
 * and puts it back when it turns out to be another one, or when a script runs under it and `hasty` is empty.
 */
const away = `isasseen() {
  z=0
  [ ! -e "$1/beat" ] || IFS= read -r z <"$1/beat"
  owned "$1" "$2" "$3" && [ "\${4-$z}" = "$z" ]
}
away() {
  g="$b/lease.$1.$$"
  shift
  isasseen "$b/lease" "$@" && [ ! -e "$g" ] && ${pathWord(tool.mv)} "$b/lease" "$g" 2>/dev/null || return 1
  y=0
  isasseen "$g" "$@" || y=1
  [ -n "$hasty" ] || ! isbusy "$g" || y=${stillBusy}
  if [ "$y" -eq 0 ]; then
    ${pathWord(tool.rm)} -rf "$g"
  elif ${pathWord(tool.mkdir)} "$b/lease" 2>/dev/null; then
    ${pathWord(tool.mv)} "$g"/* "$b/lease/" || ${pathWord(tool.rmdir)} "$b/lease"
    ${pathWord(tool.rmdir)} "$g"
  fi 2>/dev/null
  return "$y"
}`;

/** What a theft that was cut off has left stands in the way no longer than this. */
const theftSeconds = 60;

/**
 * Lets one thief at a time go on. Ages are compared by files of the node alone, so that no clock has to be right. Of a
 * clock that was set back a guard may come from the future.
 */
const guard = `G="$b/lease.steal"
trap '[ -z "$G" ] || ${pathWord(tool.rmdir)} "$G"' EXIT
${pathWord(tool.mkdir)} "$G" 2>/dev/null || {
  true >"$b/now.$$"
  x=$(${pathWord(tool.stat)} -f %m "$b/now.$$") y=$(${pathWord(tool.stat)} -f %m "$G" 2>/dev/null)
  ${pathWord(tool.rm)} -f "$b/now.$$"
  x=$((x - \${y:-x}))
  [ "\${x#-}" -lt ${theftSeconds} ] || ${pathWord(tool.rmdir)} "$G"
  G=''
  shown
}`;

/** Fails when the lease is there. It may be gone a moment later, which is no failure: hence a second attempt. */
const makeFolder = `${pathWord(tool.mkdir)} "$b/lease" 2>/dev/null`;

/**
 * Takes the lease, raising `fence` by one, once the baseline of the node is recorded and no script of an earlier lease
 * runs. The owner file is made whole beside its place and linked to it, which fails when another run was quicker in the
 * same folder.
 */
const take = (claim: LeaseClaim): string => {
  const { run, ...rest } = claim;
  const lines = Object.entries(rest).map(([key, value]) => `${key}=${oneLine(String(value))}`);
  const signed = ['run=%s\\ntoken=%s\\n', ...lines.map(() => '%s\\n')].join('');
  const words = [quote(oneLine(run)), '"$n"', ...lines.map(quote)].join(' ');
  return `${pathWord(tool.mkdir)} -p "$b" || failed no-folder 'the folder of meshwright could not be made'
${recordBaselineLines()}
${makeFolder} || { [ -d "$b/lease" ] && shown; ${makeFolder}; } || { [ -d "$b/lease" ] && shown; failed no-folder 'the lease could not be made'; }
if [ -z "$hasty" ] && isbusy "$b"/lease.*; then
  ${pathWord(tool.rmdir)} "$b/lease" 2>/dev/null
  shown
fi
${pathWord(tool.rm)} -rf "$b/lease.${stolen}".* "$b/lease.${released}".*
cd "$b/lease" || shown
n=0
[ ! -e "$b/fence" ] || IFS= read -r n <"$b/fence"
case $n in ('' | *[!0-9]*) failed odd-fence "the fence is no number: $n" ;; esac
n=$((n + 1))
write "$b/fence" "$n$N"
write beat "0$N"
printf ${quote(signed)} ${words} >"owner.$$" || failed no-folder 'the lease could not be signed'
${pathWord(tool.ln)} "owner.$$" owner 2>/dev/null || shown
${pathWord(tool.rm)} -f "owner.$$"
owned "$b/lease" ${quote(oneLine(run))} "$n" || shown
printf '@taken %s %s\\n' "$n" "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)"`;
};

/**
 * Takes a free lease and prints its token and the boot session of the node; prints who holds it otherwise. For the standard
 * input of the command that becomes root.
 */
export const takeLeaseScript = (rootPrefix: string, claim: LeaseClaim): string =>
  rootScript(rootPrefix, [owned, shown, busy, "hasty=''", take(claim)].join('\n'));

/**
 * Steals exactly the lease that was seen, then takes it; prints who holds it now when it is no longer that one, or when
 * a script still runs under it. One that hangs would keep it for ever: without patience it is not waited for.
 */
export const stealLeaseScript = (rootPrefix: string, claim: LeaseClaim, seen: SeenLease, isPatient = true): string => {
  const { run = '', token } = seen;
  const words = [stolen, quote(run), token === undefined ? "''" : String(token), seen.beat];
  return rootScript(
    rootPrefix,
    [
      owned,
      shown,
      busy,
      away,
      `hasty=${isPatient ? "''" : 'yes'}
[ ! -d "$b/lease" ] || {
${isPatient ? 'isbusy "$b/lease" && shown\n' : ''}${guard}
away ${words.join(' ')} || shown
}`,
      take(claim),
    ].join('\n'),
  );
};

/** The exit of a release that has left the lease to a script that still runs under it. */
const leaseBusyExit = 73;

/** The first line of what a renewal or a release does: nothing without the lease. */
const own = ({ run, token }: Fence, where: string): string =>
  `owned ${where} ${quote(run)} ${token} || exit ${leaseLostExit}`;

/** Moves the beat on, in a script that stands in the folder of the lease and has seen that it holds it. */
export const leaseBeat = `n=0
IFS= read -r n <beat
case $n in ('' | *[!0-9]*) n=0 ;; esac
write beat "$((n + 1))$N"`;

/**
 * Renews the lease: moves its beat on, and writes the phase of the run where one is given. Ends with exit 75 when the
 * lease is not this run's any more.
 */
export const renewLeaseScript = (rootPrefix: string, fence: Fence, phase?: string): string =>
  rootScript(
    rootPrefix,
    `${owned}
cd "$b/lease" 2>/dev/null || exit ${leaseLostExit}
${own(fence, '.')}
${leaseBeat}
${phase === undefined ? '' : newPhase(phase)}
printf '@renewed\\n'`,
  );

const newPhase = (phase: string): string => `y=''
while IFS= read -r x; do
  case $x in (phase=*) ;; (*) y=$y$x$N ;; esac
done <owner
write owner "$y"phase=${quote(oneLine(phase))}"$N"`;

/**
 * Gives the lease back; exit 75 when it is not this run's any more. While a script still runs under it, it stays as it
 * is (exit 73), to be taken over by whoever finds that it has ended.
 */
export const releaseLeaseScript = (rootPrefix: string, fence: Fence): string =>
  rootScript(
    rootPrefix,
    `${owned}
${busy}
${away}
${own(fence, '"$b/lease"')}
isbusy "$b/lease" && exit ${leaseBusyExit}
hasty=''
away ${released} ${quote(fence.run)} ${fence.token}
case $? in (0) ;; (${stillBusy}) exit ${leaseBusyExit} ;; (*) exit ${leaseLostExit} ;; esac
printf '@released\\n'`,
  );

/** Owner files are read line by line. */
const oneLine = (text: string): string => text.replaceAll(/[\0-\x1f\x7f]/g, ' ');
