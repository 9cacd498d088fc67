import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { FactsPower } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known, mapKnown, seenValue } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

/** `pmset -g custom`: power settings by power source. */
const pmsetCustom = probe('pmset-custom', [tool.pmset, '-g', 'custom'], 5_000, 16_384);

/** `pmset -g cap`: the settings that this Mac supports. */
const pmsetCap = probe('pmset-cap', [tool.pmset, '-g', 'cap'], 5_000, 16_384);

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    /** Arguments for `pmset -c`; absent settings remain unchanged. */
    readonly 'set-power': { readonly sleepMinutes?: number; readonly restartAfterPowerLoss?: boolean };
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly power: true;
  }
}

/**
 * Power settings on mains power, from the section `AC Power:` of `pmset -g custom`:
 *
 *      Sleep On Power Button 1
 *      disksleep            10
 *
 * `autorestart` is unsupported only if it is missing from `pmset -g cap`, too.
 */
const fact = defineFact({
  name: 'power',
  from: [pmsetCustom, pmsetCap],
  parse: ([custom, cap]): Known<FactsPower> =>
    andThen(settingsOnMains(custom), (settings) => {
      const sleepMinutes = wholeNumber(settings.get('sleep'));
      const diskSleepMinutes = wholeNumber(settings.get('disksleep'));
      if (sleepMinutes === undefined || diskSleepMinutes === undefined) {
        return garbled(custom, 'printed no sleep times for mains power');
      }
      const restart = restartOf(settings.get('autorestart'), custom, cap);
      if (restart.kind === 'unknown') return restart;
      return known({ sleepMinutes, diskSleepMinutes, restartAfterPowerLoss: restart.value });
    }),
  text: ({ sleepMinutes, diskSleepMinutes, restartAfterPowerLoss: restart }) => {
    const words = restart === 'unsupported' ? 'cannot restart' : restart ? 'restarts' : 'stays off';
    return `sleeps ${minutesText(sleepMinutes)}, disk ${minutesText(diskSleepMinutes)}, ${words} after a power cut`;
  },
});

const minutesText = (minutes: number): string => (minutes === 0 ? 'never' : `after ${minutes} min`);

function settingsOnMains(answer: Answer | undefined): Known<ReadonlyMap<string, string>> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of lines.value) {
    const title = /^([A-Z]\S* Power):$/.exec(line)?.[1];
    const [, key = '', value = ''] = /^ ([A-Za-z].{0,99}?) {1,99}([^ ()]+)(?: \(.*\))?$/.exec(line) ?? [];
    if (title !== undefined && !sections.has(title)) {
      section = new Map();
      sections.set(title, section);
    } else if (key !== '' && section !== undefined && !section.has(key)) section.set(key, value);
    else return garbled(answer, 'printed a line that is not a setting');
  }
  const onMains = sections.get('AC Power');
  return onMains === undefined ? garbled(answer, 'has no section AC Power') : known(onMains);
}

function restartOf(
  value: string | undefined,
  custom: Answer | undefined,
  cap: Answer | undefined,
): Known<boolean | 'unsupported'> {
  if (value !== undefined) {
    return value === '0' || value === '1' ? known(value === '1') : garbled(custom, 'printed an unexpected autorestart');
  }
  const lines = readLines(cap);
  if (lines.kind === 'unknown') return lines;
  const at = lines.value.indexOf('Capabilities for AC Power:');
  if (at < 0 || lines.value.some((line) => !/^(?: \S.*|Capabilities for \S+ Power:)$/.test(line))) {
    return garbled(cap, 'printed a line that is not a capability');
  }
  return lines.value.includes(' autorestart')
    ? garbled(custom, 'left out autorestart, which this Mac supports')
    : known('unsupported');
}

const pmset = pathWord(tool.pmset);

/** `KEY VALUE` of the settings that `set-power.sh` can change, in order, from `AC Power:`. @see pmset(1): -g custom */
const oursOnMains = `/^[A-Z].* Power:$/ { a = $0 == "AC Power:"; next } a { v[$1] = $2 }
END {
  if (!("sleep" in v)) exit 1
  n = split("sleep autorestart", k, " ")
  for (i = 1; i <= n; i++) if (k[i] in v) print k[i], v[k[i]]
}`;

const sleepWords = (minutes: number): string => (minutes === 0 ? 'never sleeps' : `sleeps after ${minutes} min`);
const restartWords = (restarts: boolean): string =>
  restarts ? 'starts by itself after a power cut' : 'stays off after a power cut';

function differences(wanted: DesiredFleet['power'], seen: FactsPower): readonly (readonly [string, string])[] {
  const { sleepMinutes, restartAfterPowerLoss: restart } = wanted;
  const { sleepMinutes: seenMinutes, restartAfterPowerLoss: seenRestart } = seen;
  const right = sleepMinutes === 0 ? 'never' : `${sleepMinutes} min`;
  return [
    ...(sleepMinutes === undefined || sleepMinutes === seenMinutes
      ? []
      : [[`it ${sleepWords(seenMinutes)} (the file: ${right})`, `sleep ${sleepMinutes}`] as const]),
    ...(restart === undefined || seenRestart === 'unsupported' || restart === seenRestart
      ? []
      : [[`it ${restartWords(!restart)}`, `autorestart ${Number(restart)}`] as const]),
  ];
}

/** Power settings on mains power. Only settings that are in the file and differ are changed. @see pmset(1) */
export const power = {
  ...defineSetting({
    kind: 'power',
    fact,
    properties: ({ power: { sleepMinutes, restartAfterPowerLoss: restart } }, { facts }) => {
      const seen = read(facts, fact);
      // `doctor` reports a Mac without this setting; there is nothing to keep.
      const isAble = seenValue(seen)?.restartAfterPowerLoss !== 'unsupported';
      return [
        ...settingProperty({
          part: 'sleep',
          desired: sleepMinutes,
          observed: mapKnown(seen, (value) => value.sleepMinutes),
          words: sleepWords,
          reason: `power.sleep: ${sleepMinutes === 0 ? 'never' : sleepMinutes}`,
        }),
        ...settingProperty({
          part: 'restart-after-power-loss',
          desired: isAble ? restart : undefined,
          observed: mapKnown(seen, (value) => value.restartAfterPowerLoss === true),
          words: restartWords,
          reason: `power.restartAfterPowerLoss: ${restart}`,
        }),
      ];
    },
    script: {
      name: 'set-power',
      text: (args) =>
        sh.setPower({}, [
          ...(args.sleepMinutes === undefined ? [] : ['sleep', `${args.sleepMinutes}`]),
          ...(args.restartAfterPowerLoss === undefined ? [] : ['autorestart', args.restartAfterPowerLoss ? '1' : '0']),
        ]),
    },
    args: ({ power: { sleepMinutes, restartAfterPowerLoss } }, made) => {
      const parts = made.map(({ about }) => about.part);
      return {
        ...(parts.includes('sleep') && given({ sleepMinutes })),
        ...(parts.includes('restart-after-power-loss') && given({ restartAfterPowerLoss })),
      };
    },
    deadlineMs: 30_000,
    before: {
      read: `${pmset} -g custom | ${pathWord(tool.awk)} '${oursOnMains}'`,
      // The words are deliberately unquoted: they are only pmset keys and numbers.
      restore: `set -f
case $v in (*[!a-z0-9"$N "]*) return 1 ;; esac
set -- $(printf '%s\\n' "$v")
${pmset} -c "$@"`,
      now: (facts) =>
        mapKnown(
          read(facts, fact),
          ({ sleepMinutes, restartAfterPowerLoss: restarts }) =>
            `sleep ${sleepMinutes}${restarts === 'unsupported' ? '' : `\nautorestart ${Number(restarts)}`}`,
        ),
    },
  }),
  ...defineNodeRule(
    {
      'power/settings': {
        summary: 'The power settings do not match the file.',
        cause:
          'A sleeping Mac cannot be reached over Thunderbolt (Apple TN3205). After a power cut, a Mac starts by itself only with autorestart.',
        hint: prose`Set it with ${meshwright('apply')}.`,
        role: 'converged',
        facts: [fact],
      },
      'power/no-autorestart': {
        severity: 'notice',
        summary: 'This Mac cannot start by itself after a power cut.',
        cause: 'On this Mac, `pmset` has no autorestart; laptops lack it, too.',
        hint: 'Connect it to an uninterruptible power supply, or expect to press its power button.',
        facts: [fact],
      },
    },
    ({ name, facts }, { desired: { power: wanted } }) => {
      const seen = readValue(facts, fact);
      if (seen === undefined) return [];
      const found = differences(wanted, seen);
      const cannot = wanted.restartAfterPowerLoss === true && seen.restartAfterPowerLoss === 'unsupported';
      const detail = `The power settings differ: ${found.map(([words]) => words).join('; ')}.`;
      const hint = withCommands(prose`Set it with ${meshwright('apply')}, or on ${named(name)}`, [
        `sudo pmset -c ${found.map(([, setting]) => setting).join(' ')}`,
      ]);
      return [
        ...(found.length === 0 ? [] : [{ code: 'power/settings', detail, hint } as const]),
        ...(cannot
          ? [{ code: 'power/no-autorestart', detail: 'This Mac cannot start by itself after a power cut.' } as const]
          : []),
      ];
    },
  ),
};
