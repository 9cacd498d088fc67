/**
 * Network changes that a node rolls back unless a run confirms them: what a change touches, how it is saved and
 * restored, what happens to the keeper's data, and the launchd daemon that waits for the confirmation. The daemon
 * restores the saved settings when the time expires, or immediately if the Mac has restarted.
 */
import type { NetworkCall, ScriptArgs } from '../../../model/node-script.ts';
import { daemonPrologue, serviceValues } from '../../../node/launchd-service.ts';
import {
  addressLine,
  bridgeLine,
  keeperData,
  keeperLabel,
  keeperPlist,
  netValues,
  outdatedMark,
  outdatedName,
} from '../../../node/paths/keeper-files.ts';
import { below, pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';
import { type Fence, historyWords, type ScriptNote } from '../../../node/root-script.ts';
import { sh } from './scripts.generated.ts';

/** The part of the network that one change touches. Nothing else is saved or restored. */
interface TouchedNetwork {
  readonly services: readonly string[];
  readonly bridge?: string;
  readonly isOrder?: boolean;
  readonly devices: readonly string[];
}

export function touchedNetwork(call: NetworkCall): TouchedNetwork {
  switch (call.name) {
    case 'remove-bridge':
      return { services: call.args.services, bridge: call.args.bridge, devices: [] };
    case 'order-services':
      return { services: [], isOrder: true, devices: [] };
    case 'set-link-address':
    case 'clear-link-address': {
      const { service, device } = call.args;
      return { services: service === undefined ? [] : [service], devices: [device] };
    }
    case 'restore-network': {
      const { bridge, made, switched, manual, order } = call.args;
      const services = [...made, ...[...switched, ...manual].map(({ service }) => service)];
      return {
        services: [...new Set(services)],
        ...(bridge === undefined ? {} : { bridge: bridge.name }),
        isOrder: order.length > 0,
        devices: manual.map(({ device }) => device),
      };
    }
  }
}

/**
 * `members NAME` prints the members of a bridge, `inets NAME` the addresses of an interface with their masks, without the
 * self-assigned ones (169.254), which come and go. `order` prints the names of all services, one per line.
 */
const observeFunctions = `members() {
  ${pathWord(tool.ifconfig)} "$1" 2>/dev/null | ${pathWord(tool.awk)} '$1 == "member:" { print $2 }'
}
inets() {
  ${pathWord(tool.ifconfig)} "$1" 2>/dev/null | ${pathWord(tool.awk)} '$1 == "inet" && $2 !~ /^169[.]254[.]/ { print $2, $4 }'
}
order() {
  ${pathWord(tool.networksetup)} -listnetworkserviceorder | ${pathWord(tool.awk)} 'sub(/^\\([*0-9]+\\) /, "")'
}`;

const preferences = pathWord(place.networkPreferences);

/** `seen SERVICE` prints whether the service is enabled; it fails if there is no such service. Runs in a subshell. */
const seenFunction = `seen() {
  r=$(net -getnetworkserviceenabled "$1" 2>&1 && printf '%s' "$o") && printf '%s' "$r" && return
  case $r in (*'@failed no-full-disk-access '*) printf refused ;; (*) return 1 ;; esac
}`;

/**
 * Lines that save the touched settings in the folder `$q`: a copy of the network preferences, whether each service is
 * enabled, the members of the bridge and the addresses of the interfaces. Anything that does not exist leaves no file. If
 * macOS refuses to show whether a service is enabled, its file has neither value. Needs `net`.
 */
const saveLines = ({ services, bridge, devices, isOrder = false }: TouchedNetwork): string =>
  [
    observeFunctions,
    seenFunction,
    `must cp ${pathWord(tool.cp)} -p ${preferences} "$q/preferences.plist"`,
    ...services.map((name, at) => `if x=$(seen ${quote(name)} 2>/dev/null); then write "$q/service.${at}" "$x$N"; fi`),
    ...(bridge === undefined
      ? []
      : [
          `if ${pathWord(tool.ifconfig)} ${quote(bridge)} >/dev/null 2>&1; then write "$q/bridge" "$(members ${quote(bridge)})$N"; fi`,
        ]),
    ...(isOrder ? ['write "$q/order" "$(order)$N"'] : []),
    ...devices.map((device) => `write "$q/inet.${device}" "$(inets ${quote(device)})$N"`),
  ].join('\n');

/**
 * First networksetup removes new services, then the saved file is restored. Then networksetup sets the services again,
 * because configd does not notice a file that is only replaced.
 *
 * @see networksetup(8): -removenetworkservice, -setnetworkserviceenabled
 */
function serviceLines({ services }: TouchedNetwork): readonly string[] {
  const networksetup = pathWord(tool.networksetup);
  const switches = services.map(
    (name, at) => `if [ -e "$w/service.${at}" ]; then
    case $(${pathWord(tool.cat)} "$w/service.${at}") in
      (Disabled*) switched ${quote(name)} Disabled off ;;
      (Enabled*) switched ${quote(name)} Enabled on ;;
    esac
  fi`,
  );
  const removed = services.map(
    (
      name,
      at,
    ) => `if [ ! -e "$w/service.${at}" ] && ${networksetup} -listallnetworkservices | isline ${quote(name)}; then
    ${networksetup} -removenetworkservice ${quote(name)}
    ! ${networksetup} -listallnetworkservices | isline ${quote(name)} || z=1
  fi`,
  );
  return [
    ...removed,
    `${pathWord(tool.cp)} -p "$w/preferences.plist" ${preferences}.meshwright && ${pathWord(tool.mv)} -f ${preferences}.meshwright ${preferences} || z=1`,
    ...switches,
  ];
}

/** @see networksetup(8): -ordernetworkservices needs every name */
const orderLines = `set --
  while IFS= read -r x; do set -- "$@" "$x"; done <"$w/order"
  ${pathWord(tool.networksetup)} -ordernetworkservices "$@"
  [ "$(order)" = "$(${pathWord(tool.cat)} "$w/order")" ] || z=1`;

/** @see ifconfig(8) of macOS: create, addm, deletem, up, destroy */
function bridgeLines(name: string): readonly string[] {
  const ifconfig = `${pathWord(tool.ifconfig)} ${quote(name)}`;
  return [
    `if [ -e "$w/bridge" ]; then
    ${ifconfig} >/dev/null || ${ifconfig} create
    for m in $(${pathWord(tool.cat)} "$w/bridge"); do
      members ${quote(name)} | isline "$m" || ${ifconfig} addm "$m"
      members ${quote(name)} | isline "$m" || z=1
    done
    ${ifconfig} up
    case $(${ifconfig}) in (*'<UP,'* | *'<UP>'*) ;; (*) z=1 ;; esac
  elif ${ifconfig} >/dev/null; then
    for m in $(members ${quote(name)}); do ${ifconfig} deletem "$m"; done
    ${ifconfig} destroy
    ${ifconfig} >/dev/null && z=1
  fi`,
  ];
}

/** @see ifconfig(8) of macOS: inet ADDRESS netmask MASK, and -alias */
function addressLines(device: string): string {
  const ifconfig = `${pathWord(tool.ifconfig)} ${quote(device)}`;
  const saved = `"$w/inet.${device}"`;
  return `inets ${quote(device)} >"$w/now"
  while read -r i m; do
    [ -z "$i" ] || isline "$i $m" <${saved} || ${ifconfig} inet "$i" -alias
  done <"$w/now"
  while read -r i m; do
    [ -z "$i" ] || isline "$i $m" <"$w/now" || ${ifconfig} inet "$i" netmask "$m"
  done <${saved}
  inets ${quote(device)} >"$w/now"
  { hasall "$w/now" <${saved} && hasall ${saved} <"$w/now"; } || z=1`;
}

/** The number of attempts, because macOS may be starting or still be busy with the change. */
const rounds = 5;

/** The script in a transaction's folder that restores its settings. Exits with 1 if not all are restored. */
export const restoreText = (touched: TouchedNetwork): string => `{
w=\${0%/*}
${observeFunctions}
isline() {
  while IFS= read -r x; do
    if [ "$x" = "$1" ] || [ "$x" = "*$1" ]; then return 0; fi
  done
  return 1
}
hasall() {
  while IFS= read -r y; do
    [ -z "$y" ] || isline "$y" <"$1" || return 1
  done
}
switched() {
  ${pathWord(tool.networksetup)} -setnetworkserviceenabled "$1" "$3"
  case $(${pathWord(tool.networksetup)} -getnetworkserviceenabled "$1") in ("$2"*) ;; (*) z=1 ;; esac
}
once() {
  z=0
  ${[
    ...serviceLines(touched),
    ...(touched.isOrder ? [orderLines] : []),
    ...(touched.bridge === undefined ? [] : bridgeLines(touched.bridge)),
    ...touched.devices.map(addressLines),
  ].join('\n  ')}
  return "$z"
}
n=0
until once; do
  n=$((n + 1))
  [ "$n" -lt ${rounds} ] || exit 1
  ${pathWord(tool.sleep)} 1
done
exit 0
} </dev/null
`;

const receptacleOf = (hardwarePort: string): number => Number(hardwarePort.replace(/^\D+/, ''));

const atReceptacle = (hardwarePort: string): string => `${quote(`address ${receptacleOf(hardwarePort)} `)}*`;

const withAddress = (address: string): string => `address' '*${quote(` ${address} `)}*`;

/**
 * The lines of the keeper's data that concern a change. The keeper does nothing while a change waits for its confirmation.
 * When the change ends, the data is deleted completely if it contradicts the result: without data, the keeper keeps nothing
 * until a run installs new data.
 *
 * `agrees`: a line that agrees with the change, so the data must be deleted if the change is rolled back. `differs`:
 * patterns of lines that contradict the change, so the data must be deleted if the change is confirmed.
 */
function touchedLines(call: NetworkCall): { readonly agrees?: string; readonly differs: readonly string[] } {
  switch (call.name) {
    case 'remove-bridge':
      return { agrees: quote(bridgeLine), differs: [] };
    case 'set-link-address': {
      const { hardwarePort, address, prefixLength } = call.args;
      const agrees = quote(addressLine(receptacleOf(hardwarePort), address, prefixLength));
      return { agrees, differs: [atReceptacle(hardwarePort), withAddress(address)] };
    }
    case 'clear-link-address':
      return { differs: [atReceptacle(call.args.hardwarePort)] };
    case 'order-services':
    case 'restore-network':
      return { differs: [] };
  }
}

const data = pathWord(keeperData);

/** Marks in a transaction's folder: the keeper's data is deleted if the transaction ends in this way. */
const mark = { rolled: 'keeper-rolled', confirmed: outdatedName } as const;

const unmarked = "failed write 'the change could not be marked for the keeper'";

/** Lines that write marks into the folder `$q` of a transaction, depending on the keeper's current data. */
export function partingLines(call: NetworkCall): string {
  const { agrees, differs } = touchedLines(call);
  const arms = [
    ...(agrees === undefined ? [] : [`(${agrees}) true >"$q/${mark.rolled}" || ${unmarked} ;;`]),
    ...(differs.length === 0 ? [] : [`(${differs.join(' | ')}) true >"$q/${mark.confirmed}" || ${unmarked} ;;`]),
  ];
  return arms.length === 0
    ? ':'
    : `[ ! -e ${data} ] || while IFS= read -r x; do
  case $x in
    ${arms.join('\n    ')}
  esac
done <${data}`;
}

const transactionLabel = 'dev.meshwright.transaction';

const transactionPlist = below(place.launchDaemons, `${transactionLabel}.plist`);

/** Seconds to wait for a script that is still changing the network before the script is killed. */
const changeSeconds = 60;

/** `putback` restores the settings saved in `$rb/rolling` and logs it. Its bytes are part of a program stored on nodes. */
const putback = `putback() {
  printf '%s\\n' "$$" >"$rb/rolling/pid"
  about "$rb/rolling"
  v=rolled-back
  ${pathWord(tool.sh)} "$rb/rolling/restore" >/dev/null 2>&1 || v=partly-rolled-back
  ${pathWord(tool.mkdir)} -p "$b/log"
  printf 'at=%s %s result=%s\\n' "$(${pathWord(tool.date)} -u +%s)" "$aw" "$v" >>"$b/log/history"
  [ ! -e "$rb/rolling/${mark.rolled}" ] || ${pathWord(tool.rm)} -f ${data}
  ${pathWord(tool.rm)} -rf "$rb/rolled"
  ${pathWord(tool.mv)} "$rb/rolling" "$rb/rolled"
}`;

/**
 * Rolls back a network change that was not confirmed in time. In the boot session that armed it, it waits and then claims
 * the change, unless another process claimed it first: the process that claims also restores the settings and removes the
 * daemon. In a later session no such process exists, so the daemon finishes whatever it finds.
 *
 * @see launchd.plist(5): RunAtLoad, and no KeepAlive; launchctl(1): bootout also stops the job that calls it
 */
export const rollText = `{
${daemonPrologue(below(place.transaction, 'roll'))}
b=${pathWord(place.ours)}
${sh.transaction({ rb: place.transaction })}
${putback}
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
${pathWord(tool.rm)} -f ${pathWord(transactionPlist)}
n=0
until ${pathWord(tool.launchctl)} bootout system/${transactionLabel} || [ "$n" -ge 10 ]; do
  n=$((n + 1))
  ${pathWord(tool.sleep)} 1
done
exit 0
} </dev/null >/dev/null 2>&1
`;

/** The values for `transaction.sh` and `arm.sh`. */
const values = {
  ...serviceValues(transactionLabel),
  rb: place.transaction,
  roll: rollText,
  transaction_plist: transactionPlist,
  keeper_label: keeperLabel,
  keeper_plist: keeperPlist,
  keeper_data: keeperData,
  outdated_mark: outdatedMark,
};

export const settleTransaction = ({ run }: ScriptArgs['settle-transaction']): string =>
  `${putback}
${sh.settleTransaction({ ...values, run })}`;

export interface TransactionNote {
  readonly fence: Fence;
  readonly note: ScriptNote;
}

export interface TransactionRequest extends TransactionNote {
  readonly call: NetworkCall;
  /** After this many seconds without a confirmation, the node rolls the change back. */
  readonly seconds: number;
}

/** The first half of a transaction. @param change the script that changes the network */
export function changeNetwork({ call, seconds, fence, note }: TransactionRequest, change: string): string {
  const touched = touchedNetwork(call);
  const known = [
    `run=${fence.run}`,
    `token=${fence.token}`,
    `step=${note.step}`,
    `verb=${note.verb}`,
    `by=${note.by}`,
    `seconds=${seconds}`,
    `words=${historyWords(note, fence)}`,
  ].map((line) => `${line.replaceAll(/[\0-\x1f\x7f]/g, ' ')}\n`);
  return `save() {
${saveLines(touched)}
}
part() {
${partingLines(call)}
}
change() {
${change}
}
${putback}
${sh.changeNetwork({ ...values, ...netValues, restore: restoreText(touched), known: known.join('') })}`;
}

export const confirmChange = ({ fence, note }: TransactionNote): string =>
  `${putback}
${sh.confirmChange({ ...values, transaction: `${fence.run} ${fence.token} ${note.step}` })}`;
