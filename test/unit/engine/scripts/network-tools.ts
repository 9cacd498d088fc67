/** A Mac's network as files, whose tools can be told to accept a setting without making it. */
import { launchd, type NodeState } from './node-states.ts';

/** A setting named in this file is accepted and not made. */
const deaf = `case " $(/bin/cat "$R/../deaf" 2>/dev/null) " in (*" $w "*) exit 0 ;; esac`;

/** networksetup with services in `list`, and `on`, `info` and `order`, which all services share but `on`. */
const networksetup = `s="$R/../net" w=$1
${deaf}
case $1 in
(-listallnetworkservices) printf 'An asterisk (*) denotes that a network service is disabled.\\n'; /bin/cat "$s/list" 2>/dev/null ;;
(-createnetworkservice) printf '%s\\n' "$2" >>"$s/list"; : >"$s/on.$2" ;;
(-removenetworkservice) /usr/bin/grep -vxF -e "$2" -e "*$2" "$s/list" >"$s/new"; /bin/mv "$s/new" "$s/list" ;;
(-getnetworkserviceenabled) if [ -e "$s/on.$2" ]; then printf 'Enabled\\n'; else printf 'Disabled\\n'; fi ;;
(-setnetworkserviceenabled) if [ "$3" = on ]; then : >"$s/on.$2"; else /bin/rm -f "$s/on.$2"; fi ;;
(-getinfo) /bin/cat "$s/info" ;;
(-setmanual) printf 'Manual Configuration\\nIP address: %s\\nSubnet mask: %s\\nRouter: %s\\n' "$3" "$4" "\${5-(null)}" >"$s/info" ;;
(-setdhcp) printf 'DHCP Configuration\\n' >"$s/info" ;;
(-listnetworkserviceorder) while IFS='|' read -r x d; do printf '(1) %s\\n(Hardware Port: X, Device: %s)\\n\\n' "$x" "$d"; done <"$s/order" ;;
(-ordernetworkservices) shift; for x; do /usr/bin/grep "^$x|" "$s/order" || printf '%s|\\n' "$x"; done >"$s/new"; /bin/mv "$s/new" "$s/order" ;;
esac`;

/** ifconfig with a file for each interface. */
const ifconfig = `s="$R/../if" i=$1 w=\${2-} t='\t'
if [ "$#" -gt 1 ]; then ${deaf}; fi
[ "$w" = create ] || [ -e "$s/$i" ] || { printf 'ifconfig: interface %s does not exist\\n' "$i" >&2; exit 1; }
case "$#:$w:\${4-}" in
(1:*) /bin/cat "$s/$i" ;;
(*:create:*) mkdir -p "$s"; printf '%s: flags=8822<BROADCAST>\\n' "$i" >"$s/$i" ;;
(*:addm:*) printf '%smember: %s flags=3\\n' "$t" "$3" >>"$s/$i" ;;
(*:deletem:*) ;;
(*:up:*) /usr/bin/sed 's/<BROADCAST>/<UP,BROADCAST>/' "$s/$i" >"$s/new"; /bin/mv "$s/new" "$s/$i" ;;
(*:destroy:*) /bin/rm "$s/$i" ;;
(*:inet:-alias) /usr/bin/grep -vF "inet $3 " "$s/$i" >"$s/new"; /bin/mv "$s/new" "$s/$i" ;;
(*:inet:netmask) printf '%sinet %s netmask %s\\n' "$t" "$3" "$5" >>"$s/$i" ;;
esac`;

/** The tools, and the folders that a Mac has. */
export const common: NodeState = {
  'Library/LaunchDaemons/': '',
  '../net/': '',
  'Library/Preferences/SystemConfiguration/preferences.plist': 'saved',
  'usr/sbin/networksetup': networksetup,
  'sbin/ifconfig': ifconfig,
  'usr/libexec/PlistBuddy': `w=\${2%% *}
${deaf}
case $2 in (Delete*) /bin/rm "$R/../preferences" ;; (*) [ -e "$R/../preferences" ] ;; esac`,
  'usr/bin/plutil': `w=$1
${deaf}
: >"$R/../preferences"`,
  'bin/launchctl': launchd,
};

/** The files of the network. */
export const net = (files: NodeState): NodeState =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`../${path}`, text]));

/** Tools that do not make a setting. */
export const deafTo = (setting: string) => net({ deaf: setting });

/** networksetup that prints something, and fails or changes nothing, in place of the settings that match. */
export const refusing = (setting: string, words: string) => ({
  'usr/sbin/networksetup': `case $1 in (${setting}) printf '${words}\\n'; exit 0 ;; esac\n${networksetup}`,
});

/** Four services in their order. */
export const ordered = { '../net/order': 'Cable|en3\nWi-Fi|en1\nVPN|\nEthernet|en0\n' };

/** The message about a service that keeps its old address. */
export const shown = 'networksetup: networksetup reported success, but shows a different address: DHCP Configuration';
