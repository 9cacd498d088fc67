import type { DesiredFleet } from '../../model/desired.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { preference } from '../../node/answers/setting-answer.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    readonly 'set-updates': Readonly<Record<string, never>>;
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly updates: true;
  }
}

const preferenceKey = 'AutomaticallyInstallMacOSUpdates';

/** Without the key, macOS installs its updates automatically. */
const fact = defineFact({
  name: 'automatic-updates',
  from: [nodeSettings],
  parse: ([answer]): Known<'on' | 'off'> =>
    andThen(preference(answer, 'updates', preferenceKey), (value = '1') => {
      if (value === '1') return known('on');
      return value === '0' ? known('off') : garbled(answer, 'printed neither yes nor no for updates');
    }),
  source: `defaults read /Library/Preferences/com.apple.SoftwareUpdate ${preferenceKey}`,
  text: (state) => (state === 'on' ? 'on, by choice or by default' : state),
});

const defaults = pathWord(tool.defaults);
const ofDefaults = `${pathWord(place.softwareUpdate)} ${preferenceKey}`;

const isUnwanted = ({ macos }: DesiredFleet): boolean => macos.automaticUpdates === 'disabled';

/**
 * The switch for automatic macOS updates.
 * @see defaults(1); the key is the one that System Settings > General > Software Update writes
 */
export const updates = {
  ...defineSetting({
    kind: 'updates',
    fact,
    properties: (fleet, { facts }) =>
      settingProperty<'on' | 'off'>({
        desired: isUnwanted(fleet) ? 'off' : undefined,
        observed: read(facts, fact),
        words: (value) => (value === 'on' ? 'macOS updates itself' : 'macOS does not update itself'),
        reason: 'macos.updates.automatic',
      }),
    script: { name: 'set-updates', text: () => sh.setUpdates({ settings: place.softwareUpdate, key: preferenceKey }) },
    args: () => ({}),
    before: {
      read: `case $(${defaults} read ${ofDefaults} 2>&1) in
(0) printf 'off\\n' ;;
(1 | *') does not exist') printf 'on\\n' ;;
(*) exit 1 ;;
esac`,
      // Without the key, macOS installs updates automatically, as on a new Mac.
      restore: `case $v in
(on) ${defaults} delete ${ofDefaults} ;;
(*) ${defaults} write ${ofDefaults} -bool false ;;
esac`,
      now: (facts) => read(facts, fact),
    },
  }),
  ...defineNodeRule(
    {
      'updates/automatic': {
        summary: 'macOS installs updates automatically.',
        cause:
          '`AutomaticallyInstallMacOSUpdates` is on or was never set. A Mac that updates and restarts at night leaves its mesh. It comes back locked, or with a different version than its neighbors.',
        hint: prose`Set it with ${meshwright('apply')}.`,
        role: 'converged',
        facts: [fact],
      },
    },
    ({ facts }, { desired }) =>
      isUnwanted(desired) && readValue(facts, fact) === 'on'
        ? { code: 'updates/automatic', detail: 'macOS may install an update on any night.' }
        : [],
  ),
};
