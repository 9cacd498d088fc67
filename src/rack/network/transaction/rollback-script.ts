/**
 * What puts a network back that nobody has confirmed: a folder `rollback` with `pending`, that one transaction makes
 * and that is renamed by whoever ends it. A rename has one winner: `confirmed` when the run came back over a new
 * connection, `rolling` while the saved state is put back, `rolled` afterwards. A daemon of launchd waits beside it
 * and does the latter when the time is over, or at once when the Mac has started anew.
 */
import type { ScriptArgs } from '../../../model/node-script.ts';
import { daemonPrologue, serviceFunctions } from '../../../node/launchd-service.ts';
import { below, pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';
import { type Fence, historyWords, type ScriptNote } from '../../../node/root-script.ts';
import { partingOfRolled } from './keeper-parting.ts';

/** Looks at a transaction that another process works on, four in a second. */
const looks = 240;

/**
 * Settles a change of the network whose run is gone: nobody has seen that the node can be reached with it, so that it
 * is taken back now, without waiting for its time to be over. A script that still changes, and a process that already puts
 * back, are awaited; what a process has left half done is done again.
 */
export const settleRollback = ({ run }: ScriptArgs['settle-rollback']): string => `${serviceFunctions(rollbackLabel)}
${rollbackFunctions}
${armFunctions}
ismeant() {
  about "$1" && [ "$ar" = ${quote(run)} ]
}
verdict=unchanged n=0 dead=0
while ismeant "$rb/pending" || ismeant "$rb/rolling"; do
  verdict=changed
  if ismeant "$rb/pending" && ! ischanging && claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  elif ismeant "$rb/rolling"; then
    dead=$((dead + 1))
    ! isalive "$ap" || dead=0
    # Who has just claimed has not written down yet who he is.
    if [ "$dead" -gt 4 ]; then
      putback
      disarm
    fi
  fi
  n=$((n + 1))
  [ "$n" -lt ${looks} ] || failed still-changing "process $ap still works on it"
  if [ -d "$rb/pending" ] || [ -d "$rb/rolling" ]; then ${pathWord(tool.sleep)} 0.25; fi
done
"$verdict"`;

/** The launchd label of the daemon. */
export const rollbackLabel = 'dev.meshwright.rollback';

/** Its property list, which lies there only while a change waits for its confirmation. */
const rollbackPlist = below(place.launchDaemons, `${rollbackLabel}.plist`);

const program = below(place.rollback, 'roll');

/** One transaction of one run. */
export interface TransactionNote {
  readonly fence: Fence;
  readonly note: ScriptNote;
}

/** The exit of a script that failed in one part and whose other parts are to stand all the same. */
export const standsExit = 3;

/** Seconds for which a script that still changes is awaited before it is ended. */
const changeSeconds = 60;

/**
 * `$rb` is the folder. `about FOLDER` reads what a transaction is: `ar` run, `at` token, `as` step, `ab` boot session,
 * `ap` the process that works on it, `aw` its words for the history. `claim FROM TO` renames for one winner. `putback`
 * restores what was saved by `rolling` and writes it down. `ischanging` says whether the script that changes still
 * runs.
 */
export const rollbackFunctions = `rb=${pathWord(place.rollback)}
about() {
  ar='' at='' as='' ab='' ap='' aw='' an=''
  { [ -d "$1" ] && [ -e "$1/about" ]; } || return 1
  while IFS= read -r x; do
    case $x in
      (run=*) ar=\${x#*=} ;; (token=*) at=\${x#*=} ;; (step=*) as=\${x#*=} ;; (boot=*) ab=\${x#*=} ;;
      (seconds=*) an=\${x#*=} ;; (words=*) aw=\${x#*=} ;; (pid=*) ap=\${x#*=} ;;
    esac
  done <"$1/about"
  [ ! -e "$1/pid" ] || IFS= read -r ap <"$1/pid"
}
isalive() {
  case $1 in ('' | *[!0-9]*) return 1 ;; esac
  case $(${pathWord(tool.ps)} -ww -o command= -p "$1" 2>/dev/null) in
    (*'sh -s'* | *'rollback/roll'*) return 0 ;;
  esac
  return 1
}
isnow() {
  [ "$ab" = "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" ]
}
ischanging() {
  about "$rb/pending" && [ ! -e "$rb/pending/verdict" ] && isnow && isalive "$ap"
}
claim() {
  [ ! -e "$2" ] && ${pathWord(tool.mv)} "$1" "$2" 2>/dev/null
}
putback() {
  printf '%s\\n' "$$" >"$rb/rolling/pid"
  about "$rb/rolling"
  v=rolled-back
  ${pathWord(tool.sh)} "$rb/rolling/restore" >/dev/null 2>&1 || v=partly-rolled-back
  ${pathWord(tool.mkdir)} -p "$b/log"
  printf 'at=%s %s result=%s\\n' "$(${pathWord(tool.date)} -u +%s)" "$aw" "$v" >>"$b/log/history"
  ${partingOfRolled}
  ${pathWord(tool.rm)} -rf "$rb/rolled"
  ${pathWord(tool.mv)} "$rb/rolling" "$rb/rolled"
}`;

/** The lines of `about`; `$$` and the boot session are filled in on the node. */
export const aboutWords = ({ fence, note }: TransactionNote, seconds: number): string => {
  const oneLine = (text: string): string => quote(text.replaceAll(/[\0-\x1f\x7f]/g, ' '));
  const known = [
    `run=${fence.run}`,
    `token=${fence.token}`,
    `step=${note.step}`,
    `verb=${note.verb}`,
    `by=${note.by}`,
    `seconds=${seconds}`,
    `words=${historyWords(note, fence)}`,
  ].map(oneLine);
  return `${known.join('"$N"')}"\${N}boot=$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)\${N}since=$(${pathWord(tool.date)} -u +%s)\${N}pid=$$\${N}"`;
};

/** `isours FOLDER`: whether the transaction in there is this one. */
export const isOurs = ({ fence, note }: TransactionNote): string => `isours() {
  about "$1" && [ "$ar" = ${quote(fence.run)} ] && [ "$at" = ${fence.token} ] && [ "$as" = ${quote(note.step)} ]
}`;

/**
 * Takes a change of the network back that was not confirmed in time. In the boot session that armed it it waits, and
 * claims the change unless somebody else was quicker: who claims also puts back and takes the daemon away. In another
 * session nobody is left who could: it finishes whatever it finds.
 *
 * @see launchd.plist(5): RunAtLoad, and no KeepAlive; launchctl(1): bootout ends the job that asks for it, too
 */
export const rollText = `{
${daemonPrologue(program)}
b=${pathWord(place.ours)}
${rollbackFunctions}
if about "$rb/pending" && isnow; then
  case $an in ('' | *[!0-9.]*) an=0 ;; esac
  ${pathWord(tool.sleep)} "$an"
  n=0
  while ischanging; do
    [ "$n" -lt ${changeSeconds} ] || kill -s KILL "$ap" 2>/dev/null
    n=$((n + 1))
    ${pathWord(tool.sleep)} 1
  done
  claim "$rb/pending" "$rb/rolling" || exit 0
else
  claim "$rb/pending" "$rb/rolling"
fi
[ ! -d "$rb/rolling" ] || putback
${pathWord(tool.rm)} -f ${pathWord(rollbackPlist)}
n=0
until ${pathWord(tool.launchctl)} bootout system/${rollbackLabel} || [ "$n" -ge 10 ]; do
  n=$((n + 1))
  ${pathWord(tool.sleep)} 1
done
exit 0
} </dev/null >/dev/null 2>&1
`;

/** `plist` prints the property list. Its paths are the node's own, with the root that the script has. */
const plistFunctions = `tag() {
  printf '<%s>%s<\\057%s>' "$1" "$2" "$1"
}
plist() {
  y=$(tag array "$(tag string ${pathWord(tool.sh)})$(tag string "$rb/roll")")
  y=$(tag key Label)$(tag string ${rollbackLabel})$(tag key RunAtLoad)'<true/>'$(tag key ProgramArguments)$y
  printf '<?xml version="1.0" encoding="UTF-8"?>\\n<plist version="1.0">%s<\\057plist>\\n' "$(tag dict "$y")"
}`;

/**
 * `arm FOLDER` writes the daemon, makes the folder the pending transaction, waits until the keeper stands still,
 * starts the daemon, whose time begins then, and waits until it runs; with anything of that missing nothing is
 * pending. `disarm` takes the daemon away: only for who has claimed, since the daemon may be the one who did. `unarm`
 * gives up what nothing was changed under. All need `look` and `bootout`, and `arm` needs `quiet`.
 */
export const armFunctions = `${plistFunctions}
disarm() {
  ${pathWord(tool.rm)} -f ${pathWord(rollbackPlist)}
  look && bootout
  :
}
unarm() {
  claim "$rb/pending" "$rb/unarmed" || return
  disarm
}
unarmed() {
  unarm
  failed not-armed "$1"
}
arm() {
  write "$rb/roll" ${quote(rollText)}
  look && bootout
  write ${pathWord(rollbackPlist)} "$(plist)$N"
  must chown ${pathWord(tool.chown)} root:wheel ${pathWord(rollbackPlist)}
  must chmod ${pathWord(tool.chmod)} 644 ${pathWord(rollbackPlist)}
  claim "$1" "$rb/pending" || failed rollback-pending 'another network change is to be settled first'
  quiet || unarmed 'the keeper does not stand still'
  o=$(${pathWord(tool.launchctl)} enable "$L" 2>&1) || unarmed "$o"
  n=0
  until e=$(${pathWord(tool.launchctl)} bootstrap system ${pathWord(rollbackPlist)} 2>&1) || look; do
    n=$((n + 1))
    [ "$n" -lt 3 ] || unarmed "$e"
    ${pathWord(tool.sleep)} 2
  done
  n=0
  until look && [ -n "$pid" ]; do
    n=$((n + 1))
    [ "$n" -lt 20 ] || unarmed 'launchd does not start the rollback'
    ${pathWord(tool.sleep)} 0.1
  done
}`;
