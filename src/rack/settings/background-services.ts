/** Background services that use the disk while models are loaded: Spotlight, Time Machine, photo analysis. */

import type { DesiredFleet } from '../../model/desired.ts';
import type { FactsPhotosAgents, FactsSpotlight } from '../../model/documents.generated.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { andThen, type Known, known, mapKnown, seenValue, unknown } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { isName } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { preference, settingAnswer } from '../../node/answers/setting-answer.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

const spotlightScript = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
${pathWord(tool.mdutil)} -a -s &
wait "$!" && printf "end\\n"`;

/**
 * `mdutil -a -s`: the volumes that Spotlight indexes, then `end`, because the list has no end mark. This is a separate
 * probe, because a volume that has disappeared (a network disk, a backup) delays it.
 */
const spotlightIndexes = probe('spotlight', [tool.sh, '-c', spotlightScript], 10_000, 65_536);

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    readonly 'stop-spotlight': Readonly<Record<string, never>>;
    readonly 'stop-backups': Readonly<Record<string, never>>;
    readonly 'stop-photos-analysis': Readonly<Record<string, never>>;
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly spotlight: true;
    readonly 'time-machine': true;
    readonly 'photos-analysis': true;
  }
}

type OnOff = 'on' | 'off';

/** All three are stopped together, or none of them. */
const stopped =
  (observedOf: (facts: Facts) => Known<OnOff>, words: Readonly<Record<OnOff, string>>) =>
  ({ system }: DesiredFleet, { facts }: { readonly facts: Facts }) =>
    settingProperty<OnOff>({
      desired: system.backgroundServices === 'stop' ? 'off' : undefined,
      observed: observedOf(facts),
      words: (value) => words[value],
      reason: 'system.backgroundServices',
    });

const noServer = 'Spotlight server is disabled.';

/** The states that `mdutil` prints below the path of a volume. */
const spotlightStates: Readonly<Record<string, OnOff>> = {
  'Indexing enabled.': 'on',
  'Indexing disabled.': 'off',
  'Indexing and searching disabled.': 'off',
  [noServer]: 'off',
};

/**
 * The indexing state of each volume, from
 *
 *     /System/Volumes/Data:
 *     \tIndexing enabled.
 *
 * A Mac without Spotlight's server prints the one line `Spotlight server is disabled.`, and no volume.
 */
const volumes = defineFact({
  name: 'spotlight',
  from: [spotlightIndexes],
  parse: ([answer]): Known<FactsSpotlight> =>
    andThen(readLines(answer), (lines) => {
      if (lines.at(-1) !== 'end') return unknown('truncated', 'The list of volumes is incomplete.');
      const said = lines.slice(0, -1);
      const found = said.length === 1 && said[0]?.trim() === noServer ? [] : volumesOf(said);
      return found === undefined ? garbled(answer, 'printed no readable state of Spotlight') : known(found);
    }),
  source: 'mdutil -a -s',
  text: (all) =>
    all.length === 0 ? 'off, its server is disabled' : [all.map(({ volume, state }) => `${volume} ${state}`)],
});

/** Undefined if a line is neither a path nor its state, or a volume has several states or occurs twice. */
function volumesOf(lines: readonly string[]): FactsSpotlight | undefined {
  const found = new Map<string, string[]>();
  let said: string[] | undefined;
  for (const line of lines) {
    const path = /^(\/.*):$/.exec(line)?.[1];
    if (path === undefined && said === undefined) return undefined;
    if (path === undefined) said?.push(line.trim());
    if (path === undefined) continue;
    if (!isName(path) || found.has(path)) return undefined;
    said = [];
    found.set(path, said);
  }
  if (found.size === 0 || [...found.values()].some((words) => words.length > 1)) return undefined;
  return [...found].map(([volume, [word = '']]) => ({ volume, state: spotlightStates[word] ?? 'other' }));
}

/** `on` if Spotlight indexes any volume. Unknown if it indexes none and the state of one volume is unknown. */
const spotlightState = (facts: Facts): Known<OnOff> =>
  andThen(read(facts, volumes), (seen) => {
    if (seen.some(({ state }) => state === 'on')) return known('on');
    const strange = seen.find(({ state }) => state === 'other');
    return strange ? unknown('garbled', `mdutil printed an unknown state of ${strange.volume}.`) : known('off');
  });

/** Prints `VOLUME on` or `VOLUME off` for each volume with a known state. @see mdutil(1): -a -s */
const perVolume = `/^\\/.*:$/ { p = substr($0, 1, length($0) - 1) }
/^[ \\t]*Indexing enabled/ { print p " on"; n++ }
/^[ \\t]*Indexing .*disabled\\./ { print p " off"; n++ }
END { exit !n }`;

/** Runs `work` for each line `l` whose volume has a different state now. Skips volumes that no longer exist. */
const everyVolume = (work: string): string => `printf '%s\\n' "$v" | while IFS= read -r l; do
  case $l in (*' on' | *' off') ;; (*) exit 1 ;; esac
  case $N$o$N in (*"$N$l$N"*) continue ;; (*"$N\${l% *} on$N"* | *"$N\${l% *} off$N"*) ;; (*) continue ;; esac
  ${work}
done`;

/** Spotlight's indexing of every volume. @see mdutil(1) */
export const spotlight = defineSetting({
  kind: 'spotlight',
  fact: volumes,
  properties: stopped(spotlightState, { on: 'indexes the disk', off: 'indexes nothing' }),
  script: { name: 'stop-spotlight', text: () => sh.stopSpotlight({}) },
  args: () => ({}),
  before: {
    read: `${pathWord(tool.mdutil)} -a -s 2>/dev/null | ${pathWord(tool.awk)} '${perVolume}'`,
    isBack: everyVolume('exit 1'),
    restore: everyVolume(`${pathWord(tool.mdutil)} -i "\${l##* }" "\${l% *}" </dev/null || exit 1`),
    // A volume that no longer exists counts as unchanged. Without its server, Spotlight lists no volume and indexes none.
    now: (facts, before) =>
      mapKnown(read(facts, volumes), (seen) =>
        before
          .split('\n')
          .map((line) => {
            const path = line.slice(0, line.lastIndexOf(' '));
            const now = seen.find(({ volume, state }) => volume === path && state !== 'other');
            return now === undefined && seen.length > 0 ? line : `${path} ${now?.state ?? 'off'}`;
          })
          .join('\n'),
      ),
  },
});

const autoBackup = 'AutoBackup';

/** The state of Time Machine's automatic backups, which are off if Time Machine was never set up. */
const backups = defineFact({
  name: 'time-machine',
  from: [nodeSettings],
  parse: ([answer]): Known<OnOff> =>
    andThen(preference(answer, 'backups', autoBackup), (value = '0') => {
      if (value === '0') return known('off');
      return value === '1' ? known('on') : garbled(answer, 'printed neither yes nor no for backups');
    }),
  source: 'defaults read /Library/Preferences/com.apple.TimeMachine AutoBackup',
  // A Mac on which nothing was chosen prints no value.
  text: (state) => (state === 'off' ? 'off, by choice or by default' : state),
});

const tmutil = pathWord(tool.tmutil);

/** The automatic backups of Time Machine. @see tmutil(8) */
export const timeMachine = defineSetting({
  kind: 'time-machine',
  fact: backups,
  properties: stopped((facts) => read(facts, backups), {
    on: 'makes automatic backups',
    off: 'makes no automatic backups',
  }),
  script: { name: 'stop-backups', text: () => sh.stopBackups({ settings: place.timeMachine }) },
  args: () => ({}),
  before: {
    read: `[ ! -e ${pathWord(place.timeMachine)}.plist ] || true <${pathWord(place.timeMachine)}.plist || exit 1
case $(${pathWord(tool.defaults)} read ${pathWord(place.timeMachine)} ${autoBackup} 2>/dev/null) in
(1) printf 'on\\n' ;; (0 | '') printf 'off\\n' ;; (*) exit 1 ;; esac`,
    restore: `case $v in (on) ${tmutil} enable ;; (off) ${tmutil} disable ;; (*) return 1 ;; esac`,
    now: (facts) => read(facts, backups),
  },
});

/**
 * The agents in a user's session that analyze photos and videos. `launchctl disable` takes effect at the next login and
 * survives restarts. A running agent continues until then, because System Integrity Protection does not let launchd unload
 * it (150).
 *
 * @see launchctl(1): enable, disable, print-disabled; "user/<uid>" and "gui/<uid>" share one file of overrides
 */
const photosAgents = ['com.apple.mediaanalysisd', 'com.apple.photoanalysisd'] as const;

const overrideStates: Readonly<Record<string, OnOff>> = { disabled: 'off', true: 'off', enabled: 'on', false: 'on' };

/**
 * The launchd state of the agents that analyze photos, in a session of the ssh user at the screen; on by default. From
 * lines of `launchctl print-disabled user/501`:
 *
 *     \t\t"com.apple.photoanalysisd" => disabled
 *     \t\t"com.apple.mediaanalysisd" => enabled
 */
const agentStates = defineFact({
  name: 'photos-analysis',
  from: [nodeSettings],
  parse: ([answer]): Known<FactsPhotosAgents> =>
    andThen(settingAnswer(answer, 'photos'), ({ code, lines }) => {
      const overrides = lines.map((line) => /^\s*"([^"]+)" => (\w+)$/.exec(line) ?? []);
      const words = photosAgents.map((agent) => overrides.filter(([, label]) => label === agent));
      const isClear = words.every(
        (all) => all.length <= 1 && all.every(([, , word = '']) => Object.hasOwn(overrideStates, word)),
      );
      if (code !== '0' || !isClear || overrides.some((one) => one.length === 0)) {
        return garbled(answer, 'printed no readable overrides of the user');
      }
      return known(
        photosAgents.map((agent, at) => ({ agent, state: overrideStates[words[at]?.[0]?.[2] ?? ''] ?? 'on' })),
      );
    }),
  source: 'launchctl print-disabled user/$(id -u)',
  text: (agents) => [agents.map(({ agent, state }) => `${agent} ${state}`)],
});

const photosState = (facts: Facts): Known<OnOff> =>
  mapKnown(read(facts, agentStates), (agents) => (agents.some(({ state }) => state === 'on') ? 'on' : 'off'));

const launchctl = pathWord(tool.launchctl);
const agentWords = photosAgents.join(' ');

/** The domain of the ssh user, for root scripts. @see sudo(8), ENVIRONMENT: SUDO_UID */
const domain = '"user/${SUDO_UID:-0}"';

/** Prints `AGENT on` or `AGENT off` for each agent; on without an override. Fails on an unknown override. */
const readPhotosAgents = `o=$(${launchctl} print-disabled ${domain}) || exit
for l in ${agentWords}; do
  case $o in
    (*"\\"$l\\" => disabled"* | *"\\"$l\\" => true"*) printf '%s off\\n' "$l" ;;
    (*"\\"$l\\" => enabled"* | *"\\"$l\\" => false"*) printf '%s on\\n' "$l" ;;
    (*"\\"$l\\" "*) exit 1 ;;
    (*) printf '%s on\\n' "$l" ;;
  esac
done`;

/** Keeps launchd from starting the photo agents in the next session of the ssh user at the screen. */
const stopPhotosAnalysis = (): string => `isoff() {
  o=$(${readPhotosAgents}) || return 1
  case $o in (*' on'*) return 1 ;; esac
}
isoff && unchanged
for l in ${agentWords}; do must launchctl ${launchctl} disable ${domain}"/$l"; done
isoff || failed launchctl 'launchctl took the setting and shows another one'
changed`;

/** The agents that analyze photos in a session of the ssh user. @see launchctl(1): disable */
export const photosAnalysis = defineSetting({
  kind: 'photos-analysis',
  fact: agentStates,
  properties: stopped(photosState, { on: 'can analyze photos', off: 'does not analyze photos' }),
  script: { name: 'stop-photos-analysis', text: stopPhotosAnalysis },
  args: () => ({}),
  before: {
    read: readPhotosAgents,
    // Restores each agent that differs.
    restore: `printf '%s\\n' "$v" | while read -r l w; do
  case " ${agentWords} " in (*" $l "*) ;; (*) exit 1 ;; esac
  case $w in (on) w=enable ;; (off) w=disable ;; (*) exit 1 ;; esac
  case $w$N$o$N in (enable*"$N$l on$N"* | disable*"$N$l off$N"*) continue ;; esac
  ${launchctl} "$w" ${domain}"/$l" || exit 1
done`,
    now: (facts) =>
      mapKnown(read(facts, agentStates), (agents) => agents.map(({ agent, state }) => `${agent} ${state}`).join('\n')),
  },
});

export const backgroundServices = defineNodeRule(
  {
    'background/on': {
      summary: 'A background service uses the disk, but the file wants it stopped.',
      cause:
        'While ranks load a copied model, Spotlight reads every one of its files and Time Machine copies it again. Photo analysis uses disk, memory and GPU in a session at the screen.',
      hint: prose`Stop it with ${meshwright('apply')}.`,
      role: 'converged',
      facts: [volumes, backups, agentStates],
    },
  },
  ({ facts }, { desired }) => {
    const found = [
      ...(seenValue(spotlightState(facts)) === 'on' ? ['Spotlight indexes the disk'] : []),
      ...(readValue(facts, backups) === 'on' ? ['Time Machine makes automatic backups'] : []),
      ...(seenValue(photosState(facts)) === 'on'
        ? ['macOS can analyze photos while the ssh user is logged in at the screen']
        : []),
    ];
    return desired.system.backgroundServices !== 'stop' || found.length === 0
      ? []
      : { code: 'background/on', detail: `${found.join(', and ')}.` };
  },
);
