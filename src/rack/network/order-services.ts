import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveFunction, networkSetupFunctions } from '../../node/network-setup.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

/** The names of all services, one per line, those with one of the devices `d` behind the others; else in their order. */
const lastBehind = `/^\\([*0-9]+\\) / { n = $0; sub(/^\\([*0-9]+\\) /, "", n); next }
/^\\(Hardware Port: .*, Device: ?[^ ,]*\\)$/ {
  v = $0; sub(/^.*, Device: ?/, "", v); sub(/\\)$/, "", v)
  if (v != "" && index(d, " " v " ")) t = t n "\\n"; else print n
}
END { printf "%s", t }`;

/**
 * Puts the network services of some devices behind all others. The tool wants every name, those of services that are
 * off and of VPNs too, and changes nothing otherwise ("Wrong number of network services"), so that the list is made
 * here, from what is there now.
 *
 * @see networksetup(8): -ordernetworkservices, -listnetworkserviceorder
 */
export function orderServices({ last, keeper }: ScriptArgs['order-services']): string {
  return `${networkSetupFunctions}
${leaveFunction(keeper)}
names() {
  r=$(mustnet -listnetworkserviceorder 2>&1 && printf '%s\\n' "$o") || return 1
  o=$r
  was=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} -v d=' ' '${lastBehind}')
  want=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} -v d=${quote(` ${last.join(' ')} `)} '${lastBehind}')
}
names || {
  leave "$r"
  unchanged
}
[ -n "$want" ] || failed networksetup 'networksetup lists no service'
[ "$was" != "$want" ] || unchanged
set --
while IFS= read -r x; do set -- "$@" "$x"; done <<EOT
$want
EOT
r=$(mustnet -ordernetworkservices "$@" 2>&1) || {
  leave "$r"
  unchanged
}
names || {
  leave "$r"
  changed
}
[ "$was" = "$want" ] || failed networksetup 'networksetup took the order and shows another one'
changed`;
}
