import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/hint-lines.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { PowerSettings } from '../../model/facts/mac-settings.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { Rule } from '../rule.ts';

interface Difference {
  readonly words: string;
  readonly arguments: string;
}

const sleepWords = (minutes: number): string => (minutes === 0 ? 'never sleeps' : `sleeps after ${minutes} min`);

function differences(wanted: DesiredFleet['power'], seen: PowerSettings): readonly Difference[] {
  const found: Difference[] = [];
  const { sleepMinutes, restartAfterPowerLoss: restart } = wanted;
  if (sleepMinutes !== undefined && sleepMinutes !== seen.sleepMinutes) {
    const wish = sleepMinutes === 0 ? 'never' : `${sleepMinutes} min`;
    found.push({
      words: `it ${sleepWords(seen.sleepMinutes)} (the file: ${wish})`,
      arguments: `sleep ${sleepMinutes}`,
    });
  }
  if (restart !== undefined && seen.restartAfterPowerLoss !== 'unsupported' && restart !== seen.restartAfterPowerLoss) {
    const words = restart ? 'it stays off after a power cut' : 'it starts by itself after a power cut';
    found.push({ words, arguments: `autorestart ${restart ? 1 : 0}` });
  }
  return found;
}

/** Power settings on mains that differ from the file. A Mac without `autorestart` is only told when it is wanted. */
export const power: Rule = ({ desired, nodes }) =>
  nodes.flatMap((node) => {
    const seen = node.facts.power;
    if (seen.kind === 'unknown') {
      return [];
    }
    const subject = nodeSubject(node.name);
    const found = differences(desired.power, seen.value);
    const cannot = desired.power.restartAfterPowerLoss === true && seen.value.restartAfterPowerLoss === 'unsupported';
    const settings = found.map((one) => one.arguments).join(' ');
    return [
      ...(found.length === 0
        ? []
        : [
            diagnose('power/settings', {
              subject,
              detail: `The power settings differ: ${found.map((one) => one.words).join('; ')}.`,
              hint: withCommands(prose`Set it with ${meshwright('apply')}, or on ${named(node.name)}`, [
                `sudo pmset -c ${settings}`,
              ]),
            }),
          ]),
      ...(cannot
        ? [diagnose('power/no-autorestart', { subject, detail: 'It cannot start by itself after a power cut.' })]
        : []),
    ];
  });
