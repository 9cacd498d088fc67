import type { MacNames } from '../../../model/facts/mac-settings.ts';
import { type Known, known } from '../../../model/known.ts';
import { asObject } from '../../../node/answers/json-value.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { settingAnswer } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/**
 * The names of the Mac, from the key `System` of the network preferences:
 *
 *     {"System":{"ComputerName":"studio-1"},"Network":{"HostNames":{"LocalHostName":"studio-1"}}}
 */
export const names: Fact<'names'> = {
  name: 'names',
  from: [nodeSettings],
  parse: ([answer]) => {
    const said = settingAnswer(answer, 'names');
    if (said.kind === 'unknown') return said;
    const { code, lines } = said.value;
    const found = code === '0' ? namesOf(lines.join('\n')) : undefined;
    return found ?? garbled(answer, 'described no names');
  },
};

function namesOf(text: string): Known<MacNames> | undefined {
  try {
    const root = asObject(JSON.parse(text));
    const system = asObject(root?.['System']);
    const hosts = asObject(asObject(root?.['Network'])?.['HostNames']);
    if (system === undefined || hosts === undefined) return undefined;
    const texts = [
      ['computerName', system['ComputerName']],
      ['localHostName', hosts['LocalHostName']],
      ['hostName', system['HostName']],
    ] as const;
    const there = texts.filter(([, name]) => name !== undefined && name !== '');
    return there.every(([, name]) => typeof name === 'string') ? known(Object.fromEntries(there)) : undefined;
  } catch {
    return undefined;
  }
}
