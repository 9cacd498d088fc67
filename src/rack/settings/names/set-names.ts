import type { ScriptArgs } from '../../../model/node-script.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';

/** Gives the Mac names; those that are absent stay. @see scutil(8): --get, --set */
export function setNames({ computerName, localHostName, hostName }: ScriptArgs['set-names']): string {
  const scutil = pathWord(tool.scutil);
  const wanted = [
    ['ComputerName', computerName],
    ['LocalHostName', localHostName],
    ['HostName', hostName],
  ].flatMap(([key, name]) => (key === undefined || name === undefined ? [] : [`${key} ${quote(name)}`]));
  return `y=''
name() {
  [ "$(${scutil} --get "$1" 2>/dev/null)" != "$2" ] || return 0
  must scutil ${scutil} --set "$1" "$2"
  [ "$(${scutil} --get "$1" 2>/dev/null)" = "$2" ] || failed scutil "scutil took the $1 and shows another one"
  y=1
}
${wanted.map((words) => `name ${words}`).join('\n')}
[ -n "$y" ] || unchanged
changed`;
}
