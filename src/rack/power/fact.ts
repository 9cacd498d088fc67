import type { Answer } from '../../model/facts/probe.ts';
import { type Known, known } from '../../model/known.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { pmsetCap, pmsetCustom } from '../../node/probes/system.ts';
import type { Fact } from '../fact.ts';

/**
 * Power settings on mains, from the section `AC Power:` of `pmset -g custom`:
 *
 *      Sleep On Power Button 1
 *      disksleep            10
 *
 * A Mac that lacks `autorestart` there cannot do it only if `pmset -g cap` lacks it too.
 */
export const power: Fact<'power'> = {
  name: 'power',
  from: [pmsetCustom, pmsetCap],
  parse: ([custom, cap]) => {
    const settings = settingsOnMains(custom);
    if (settings.kind === 'unknown') return settings;
    const sleepMinutes = wholeNumber(settings.value.get('sleep'));
    const diskSleepMinutes = wholeNumber(settings.value.get('disksleep'));
    if (sleepMinutes === undefined || diskSleepMinutes === undefined) {
      return garbled(custom, 'printed no sleep times on mains');
    }
    const restart = restartOf(settings.value.get('autorestart'), custom, cap);
    if (restart.kind === 'unknown') return restart;
    return known({ sleepMinutes, diskSleepMinutes, restartAfterPowerLoss: restart.value });
  },
};

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
    else return garbled(answer, 'printed a line that is no setting');
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
    return value === '0' || value === '1' ? known(value === '1') : garbled(custom, 'printed a strange autorestart');
  }
  const lines = readLines(cap);
  if (lines.kind === 'unknown') return lines;
  const at = lines.value.indexOf('Capabilities for AC Power:');
  if (at < 0 || lines.value.some((line) => !/^(?: \S.*|Capabilities for \S+ Power:)$/.test(line))) {
    return garbled(cap, 'printed a line that is no capability');
  }
  return lines.value.includes(' autorestart')
    ? garbled(custom, 'left out autorestart, which this Mac has')
    : known('unsupported');
}
