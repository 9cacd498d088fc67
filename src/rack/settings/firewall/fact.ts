import { known } from '../../../model/known.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { settingAnswer } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/** The words and the number of each state; only together they are believed. */
const states = {
  'disabled 0': 'off',
  'enabled 1': 'on',
  'enabled 2': 'blocks-all',
  'blocking all non-essential incoming connections 2': 'blocks-all',
  'blocking all non-essential connections 2': 'blocks-all',
} as const;

const isState = (text: string): text is keyof typeof states => Object.hasOwn(states, text);

/**
 * The application firewall, from `Firewall is disabled. (State = 0)`; while it lets in nothing that it need not,
 * `Firewall is blocking all non-essential incoming connections. (State = 2)`, or state 1 and, from `--getblockall`,
 * `Firewall has block all state set to enabled.`
 */
export const firewall: Fact<'firewall'> = {
  name: 'firewall',
  from: [nodeSettings],
  parse: ([answer]) => {
    const said = settingAnswer(answer, 'firewall');
    if (said.kind === 'unknown') return said;
    const [line = '', ...more] = said.value.lines;
    const [, word, number] = /^Firewall is ([a-z -]+)\. \(State = (\d)\)$/.exec(line) ?? [];
    const state = `${word} ${number}`;
    if (said.value.code !== '0' || more.length > 0 || !isState(state))
      return garbled(answer, 'printed no state of the firewall');
    if (state !== 'enabled 1') return known(states[state]);
    const all = settingAnswer(answer, 'block-all');
    if (all.kind === 'unknown') return all;
    const text = `${all.value.code} ${all.value.lines.join('\n')}`;
    const [, blocksAll] = /^0 Firewall has block all state set to (enabled|disabled)\.$/.exec(text) ?? [];
    if (blocksAll === undefined) return garbled(answer, 'did not print whether the firewall blocks everything');
    return known(blocksAll === 'enabled' ? 'blocks-all' : 'on');
  },
};
