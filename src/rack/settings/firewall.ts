import type { FactsFirewall } from '../../model/documents.generated.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    readonly 'stop-firewall': Readonly<Record<string, never>>;
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly firewall: true;
  }
}

/** The words and the number of each state. An answer counts only if both match. */
const states = {
  'disabled 0': 'off',
  'enabled 1': 'on',
  'enabled 2': 'blocks-all',
  'blocking all non-essential incoming connections 2': 'blocks-all',
  'blocking all non-essential connections 2': 'blocks-all',
} as const;

const isState = (text: string): text is keyof typeof states => Object.hasOwn(states, text);

/**
 * The application firewall, from `Firewall is disabled. (State = 0)`. If it blocks everything, the tool prints
 * `Firewall is blocking all non-essential incoming connections. (State = 2)`, or state 1 and, for `--getblockall`,
 * `Firewall has block all state set to enabled.`
 */
const fact = defineFact({
  name: 'firewall',
  from: [nodeSettings],
  parse: ([answer]): Known<FactsFirewall> =>
    andThen(settingAnswer(answer, 'firewall'), (said) => {
      const [line = '', ...more] = said.lines;
      const [, word, number] = /^Firewall is ([a-z -]+)\. \(State = (\d)\)$/.exec(line) ?? [];
      const state = `${word} ${number}`;
      if (said.code !== '0' || more.length > 0 || !isState(state))
        return garbled(answer, 'printed no state of the firewall');
      if (state !== 'enabled 1') return known(states[state]);
      const all = settingAnswer(answer, 'block-all');
      if (all.kind === 'unknown') return all;
      const text = `${all.value.code} ${all.value.lines.join('\n')}`;
      const [, blocksAll] = /^0 Firewall has block all state set to (enabled|disabled)\.$/.exec(text) ?? [];
      if (blocksAll === undefined) return garbled(answer, 'did not print whether the firewall blocks everything');
      return known(blocksAll === 'enabled' ? 'blocks-all' : 'on');
    }),
  source: 'socketfilterfw --getglobalstate',
  text: (state) => (state === 'blocks-all' ? 'blocks everything' : state),
});

const socketfilterfw = pathWord(tool.socketfilterfw);

const saidOf = {
  on: 'The application firewall is on',
  'blocks-all': 'The application firewall blocks everything',
} as const;

/** The application firewall. The file can only switch it off. While it is on, it may block access to a placement. */
export const firewall = {
  ...defineSetting({
    kind: 'firewall',
    fact,
    properties: ({ system }, { facts }) =>
      settingProperty<FactsFirewall>({
        desired: system.firewall === 'disabled' ? 'off' : undefined,
        observed: read(facts, fact),
        words: (value) => (value === 'blocks-all' ? 'blocks everything' : value),
        reason: 'system.firewall',
      }),
    script: { name: 'stop-firewall', text: () => sh.stopFirewall({}) },
    args: () => ({}),
    before: {
      read: `case $(${socketfilterfw} --getglobalstate 2>&1) in
(*'(State = 0)') printf 'off\\n' ;;
(*'(State = 1)') case $(${socketfilterfw} --getblockall 2>&1) in
  (*' disabled.') printf 'on\\n' ;;
  (*' enabled.') printf 'blocks-all\\n' ;;
  (*) exit 1 ;;
esac ;;
(*'(State = 2)') printf 'blocks-all\\n' ;;
(*) exit 1 ;;
esac`,
      restore: `case $v in
(off) ${socketfilterfw} --setglobalstate off ;;
(on) ${socketfilterfw} --setglobalstate on && ${socketfilterfw} --setblockall off ;;
(*) ${socketfilterfw} --setglobalstate on && ${socketfilterfw} --setblockall on ;;
esac`,
      now: (facts) => read(facts, fact),
    },
  }),
  ...defineNodeRule(
    {
      'firewall/on': {
        summary: 'The application firewall is on, but the file wants it off.',
        cause:
          'The firewall asks on the screen about each listening program, and blocks the program until someone answers.',
        hint: prose`Switch it off with ${meshwright('apply')}.`,
        role: 'converged',
        facts: [fact],
      },
      'firewall/in-the-way': {
        severity: 'warning',
        summary: 'The application firewall may block a placement.',
        cause:
          "Ranks and endpoints are listening programs. Unless someone has allowed them, the firewall drops connections from other computers, and it asks for permission only on this Mac's screen.",
        hint: "Set system.firewall: disabled, or allow the runtime's programs in System Settings > Network > Firewall > Options.",
        facts: [fact],
      },
    },
    ({ name, facts }, { desired: { system, placements } }) => {
      const seen = readValue(facts, fact);
      if (seen === undefined || seen === 'off') return [];
      const said = saidOf[seen];
      if (system.firewall === 'disabled') return { code: 'firewall/on', detail: `${said}, but the file wants it off.` };
      const listening = placements.filter((one) => one.state === 'serving' && one.nodes.includes(name));
      const who = listening.map((one) => one.name).join(', ');
      return who === '' ? [] : { code: 'firewall/in-the-way', detail: `${said}, and ${who} listens here.` };
    },
  ),
};
