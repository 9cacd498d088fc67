import { parsedJson } from '../../model/digest.ts';
import type { FactsNames } from '../../model/documents.generated.ts';
import { andThen, type Known, known, mapKnown } from '../../model/known.ts';
import type { AddressPart } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { asObject, garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    /** Absent names remain unchanged. */
    readonly 'set-names': FactsNames;
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly names: true;
  }
}

/** Each name is a separate property, because macOS may change the Bonjour name. `tool` is its name in scutil. */
const keys = [
  { key: 'computerName', part: 'computer', tool: 'ComputerName', words: 'computer name' },
  { key: 'localHostName', part: 'bonjour', tool: 'LocalHostName', words: 'Bonjour name' },
  { key: 'hostName', part: 'host', tool: 'HostName', words: 'host name' },
] as const satisfies readonly {
  readonly key: keyof FactsNames;
  readonly part: AddressPart;
  readonly tool: string;
  readonly words: string;
}[];

/**
 * The Mac's names, from the key `System` of the network preferences:
 *
 *     {"System":{"ComputerName":"studio-1"},"Network":{"HostNames":{"LocalHostName":"studio-1"}}}
 */
const fact = defineFact({
  name: 'names',
  from: [nodeSettings],
  parse: ([answer]): Known<FactsNames> =>
    andThen(settingAnswer(answer, 'names'), ({ code, lines }) => {
      const found = code === '0' ? namesOf(lines.join('\n')) : undefined;
      return found ?? garbled(answer, 'described no names');
    }),
  source: 'plutil -extract System json -o - /Library/Preferences/SystemConfiguration/preferences.plist',
  text: ({ computerName, localHostName, hostName }) => [
    [`computer ${computerName ?? 'not set'}`, `Bonjour ${localHostName ?? 'not set'}`, `host ${hostName ?? 'not set'}`],
  ],
});

function namesOf(text: string): Known<FactsNames> | undefined {
  const root = asObject(parsedJson(text));
  const system = asObject(root?.['System']);
  const hosts = asObject(asObject(root?.['Network'])?.['HostNames']);
  if (system === undefined || hosts === undefined) return undefined;
  const texts = keys.map(({ key, tool: word }) => [key, (key === 'localHostName' ? hosts : system)[word]] as const);
  const there = texts.filter(([, name]) => name !== undefined && name !== '');
  return there.every(([, name]) => typeof name === 'string') ? known(Object.fromEntries(there)) : undefined;
}

const scutil = pathWord(tool.scutil);

const toolKeys = keys.map(({ tool: word }) => word).join(' ');

const readBefore = `for n in ${toolKeys}; do
  if o=$(${scutil} --get "$n" 2>&1); then
    printf '%s %s\\n' "$n" "$o"
  else
    case $o in (*'not set'*) ;; (*) exit 1 ;; esac
  fi
done`;

/** A name that was not set before is set to an empty text, which removes the name. */
const restoreBefore = `for n in ${toolKeys}; do
  case $N$v$N in
  (*"$N$n "*)
    w=$N$v$N
    w=\${w#*"$N$n "}
    w=\${w%%"$N"*} ;;
  (*) w='' ;;
  esac
  [ "$(${scutil} --get "$n" 2>/dev/null)" = "$w" ] || ${scutil} --set "$n" "$w" || return
done`;

/** True if macOS appended a number to the desired Bonjour name because another computer has it: `studio-1-2`. */
const isRenamed = (wanted: string, localHostName: string | undefined): boolean =>
  localHostName?.startsWith(`${wanted}-`) === true && /^[1-9]\d{0,3}$/.test(localHostName.slice(wanted.length + 1));

function wordsOf(node: string, key: keyof FactsNames, name: string): string {
  if (name === '') return 'not set';
  const why = key === 'localHostName' && isRenamed(node, name) ? ' (set by macOS: another computer has the name)' : '';
  return `${name}${why}`;
}

const shown = (name: string | undefined): string => (name === undefined ? 'not set' : `"${name}"`);

/** The names of a Mac: computer name, Bonjour name and host name. @see scutil(8) */
export const names = {
  ...defineSetting({
    kind: 'names',
    fact,
    properties: ({ system }, { desired: { name: node }, facts }) =>
      keys.flatMap(({ key, part }) =>
        settingProperty<string>({
          part,
          desired: system.computerName && node,
          observed: mapKnown(read(facts, fact), (seen) => seen[key] ?? ''),
          words: (name) => wordsOf(node, key, name),
          reason: 'system.computerName: node',
        }),
      ),
    script: {
      name: 'set-names',
      text: (wanted) =>
        sh.setNames(
          {},
          keys.flatMap(({ key, tool: word }) => (wanted[key] ? [word, wanted[key]] : [])),
        ),
    },
    args: (_, made): FactsNames =>
      Object.fromEntries(
        made.flatMap(({ about, node }) => keys.filter(({ part }) => part === about.part).map(({ key }) => [key, node])),
      ),
    deadlineMs: 30_000,
    before: {
      read: readBefore,
      restore: restoreBefore,
      now: (facts) =>
        mapKnown(read(facts, fact), (seen) =>
          keys.flatMap(({ key, tool: word }) => (seen[key] === undefined ? [] : [`${word} ${seen[key]}`])).join('\n'),
        ),
    },
  }),
  ...defineNodeRule(
    {
      'names/differ': {
        summary: "The Mac's name differs from its node name.",
        cause:
          "The file wants the Mac to have its node's name, but a person or a setup program gave it different names.",
        hint: prose`Set them with ${meshwright('apply')}.`,
        role: 'converged',
        facts: [fact],
      },
      'names/renamed': {
        summary: 'macOS gave this Mac a different Bonjour name, because its own name was taken.',
        cause:
          "Another computer on the network has this node's name, or this Mac is in one network with two interfaces. macOS then appends a number to the name.",
        hint: prose`Find the computer that has the name, because otherwise macOS appends the number again. Then: ${meshwright('apply')}`,
        role: 'converged',
        facts: [fact],
      },
    },
    ({ name: node, facts }, { desired }) => {
      const seen = readValue(facts, fact);
      if (desired.system.computerName !== 'node' || seen === undefined) return [];
      const { localHostName } = seen;
      const renamed = isRenamed(node, localHostName);
      const differ = keys
        .filter(({ key }) => seen[key] !== node && !(renamed && key === 'localHostName'))
        .map(({ key, words }) => `its ${words} is ${shown(seen[key])}`);
      const detail = prose`The name should be "${named(node)}", but ${differ.join('; ')}.`;
      return [
        ...(differ.length === 0 ? [] : [{ code: 'names/differ', detail } as const]),
        ...(renamed
          ? [{ code: 'names/renamed', detail: `The Bonjour name of this Mac is ${shown(localHostName)}.` } as const]
          : []),
      ];
    },
  ),
};
