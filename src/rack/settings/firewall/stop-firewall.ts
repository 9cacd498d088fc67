import { pathWord, tool } from '../../../node/paths/node-paths.ts';

/** Switches the application firewall off. Some versions of the tool say nothing when they did, so it is asked again. */
export const stopFirewall = (): string => `f=${pathWord(tool.socketfilterfw)}
isoff() {
  case $("$f" --getglobalstate 2>&1) in (*'(State = 0)'*) ;; (*) return 1 ;; esac
}
isoff && unchanged
must socketfilterfw "$f" --setglobalstate off
isoff || failed socketfilterfw "\${o:-the firewall is still on}"
changed`;
