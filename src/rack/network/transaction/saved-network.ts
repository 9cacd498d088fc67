/** What a network change touches, how it is saved before, and how it is put back. */
import type { NetworkCall } from '../../../model/node-script.ts';
import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';

/** The part of the network that one change touches: nothing else is saved, and nothing else is put back. */
export interface TouchedNetwork {
  readonly services: readonly string[];
  readonly bridge?: string;
  /** Whether it changes the order in which services are tried. */
  readonly isOrder?: boolean;
  /** Interfaces whose addresses it changes. */
  readonly devices: readonly string[];
}

/** What a script touches, by its arguments alone. */
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
 * `members NAME` prints the members of a bridge, `inets NAME` the addresses of an interface with their masks. Those that
 * macOS gives itself (169.254) come and go by themselves. `order` prints the names of all services, one per line.
 */
const lookFunctions = `members() {
  ${pathWord(tool.ifconfig)} "$1" 2>/dev/null | ${pathWord(tool.awk)} '$1 == "member:" { print $2 }'
}
inets() {
  ${pathWord(tool.ifconfig)} "$1" 2>/dev/null | ${pathWord(tool.awk)} '$1 == "inet" && $2 !~ /^169[.]254[.]/ { print $2, $4 }'
}
order() {
  ${pathWord(tool.networksetup)} -listnetworkserviceorder | ${pathWord(tool.awk)} 'sub(/^\\([*0-9]+\\) /, "")'
}`;

const preferences = pathWord(place.networkPreferences);

/** `seen SERVICE` prints whether it is on; it fails where there is none. Runs in a shell of its own. */
const seenFunction = `seen() {
  r=$(net -getnetworkserviceenabled "$1" 2>&1 && printf '%s' "$o") && printf '%s' "$r" && return
  case $r in (*'@failed no-full-disk-access '*) printf refused ;; (*) return 1 ;; esac
}`;

/**
 * Lines that save what is touched into the folder `$q`: a copy of the network preferences, whether each service is on,
 * the members of the bridge and the addresses of the interfaces. What is not there leaves no file; a service of which
 * macOS does not let anybody say whether it is on leaves one that says neither. Needs `net`.
 */
export const saveLines = ({ services, bridge, devices, isOrder = false }: TouchedNetwork): string =>
  [
    lookFunctions,
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
 * Services that were not there go by their own tool, then the file is as it was, and what is set again in it makes
 * configd read it: a file that is only replaced is not noticed.
 *
 * @see networksetup(8): -removenetworkservice, -setnetworkserviceenabled
 */
function serviceLines({ services }: TouchedNetwork): readonly string[] {
  const networksetup = pathWord(tool.networksetup);
  const told = services.map(
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
    ...told,
  ];
}

/** @see networksetup(8): -ordernetworkservices wants every name */
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

/** How often everything is tried: macOS may be starting, or still be busy with the change. */
const rounds = 5;

/**
 * The script in the folder of a transaction that puts back what was saved there, with `R` in its environment. It may
 * run again and again, and ends with 1 when not everything is as it was.
 */
export const restoreText = (touched: TouchedNetwork): string => `{
w=\${0%/*}
${lookFunctions}
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
