import { known } from '../../../model/known.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { settingAnswer } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';
import { photosAgents } from './photos-agents.ts';

const states: Readonly<Record<string, 'on' | 'off'>> = { disabled: 'off', true: 'off', enabled: 'on', false: 'on' };

/**
 * Whether launchd starts the agents that look through photos, in a session of the ssh user at the screen; on where
 * nobody has said anything. From lines of `launchctl print-disabled user/501`:
 *
 *     \t\t"com.apple.photoanalysisd" => disabled
 *     \t\t"com.apple.mediaanalysisd" => enabled
 */
export const photosAnalysis: Fact<'photos-analysis'> = {
  name: 'photos-analysis',
  from: [nodeSettings],
  parse: ([answer]) => {
    const said = settingAnswer(answer, 'photos');
    if (said.kind === 'unknown') return said;
    const { code, lines } = said.value;
    const overrides = lines.map((line) => /^\s*"([^"]+)" => (\w+)$/.exec(line) ?? []);
    const words = photosAgents.map((agent) => overrides.filter(([, label]) => label === agent));
    const isClear = words.every(
      (all) => all.length <= 1 && all.every(([, , word = '']) => Object.hasOwn(states, word)),
    );
    if (code !== '0' || !isClear || overrides.some((one) => one.length === 0)) {
      return garbled(answer, 'printed no overrides of a user that can be read');
    }
    return known(photosAgents.map((agent, at) => ({ agent, state: states[words[at]?.[0]?.[2] ?? ''] ?? 'on' })));
  },
};
