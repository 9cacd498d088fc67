import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Known, known } from '../../model/known.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { preference } from '../../node/probes/node-setting.ts';
import { nodeSettings } from '../../node/probes/system.ts';
import { defineSetting } from '../define-setting.ts';
import { defineFact, read } from '../fact.ts';

const preferenceKey = 'AutomaticallyInstallMacOSUpdates';

/** Without the key macOS installs its updates. */
const fact = defineFact({
  name: 'automatic-updates',
  from: [nodeSettings],
  parse: ([answer]): Known<'on' | 'off'> => {
    const value = preference(answer, 'updates', preferenceKey);
    if (value.kind === 'unknown') return value;
    if (value.value === undefined || value.value === '1') return known('on');
    return value.value === '0' ? known('off') : garbled(answer, 'printed neither yes nor no of updates');
  },
  source: `defaults read /Library/Preferences/com.apple.SoftwareUpdate ${preferenceKey}`,
  text: (state) => (state === 'on' ? 'on, by choice or by default' : state),
});

/** Keeps macOS from installing its own updates unasked. `defaults` reports nothing useful, so the key is read again. */
function setUpdates(): string {
  const key = `${pathWord(place.softwareUpdate)} ${preferenceKey}`;
  return `isoff() {
  [ "$(${pathWord(tool.defaults)} read ${key} 2>/dev/null)" = 0 ]
}
isoff && unchanged
must defaults ${pathWord(tool.defaults)} write ${key} -bool false
isoff || failed defaults 'defaults took the setting and shows another one'
changed`;
}

/**
 * Whether macOS installs its own updates without being asked.
 * @see defaults(1); the key is the one that System Settings > General > Software Update writes
 */
export const updates = defineSetting({
  kind: 'updates',
  key: 'macos.updates.automatic',
  fact,
  wanted: ({ macos }) => (macos.automaticUpdates === 'disabled' ? 'off' : undefined),
  words: (value) => (value === 'on' ? 'macOS updates itself' : 'macOS installs no update by itself'),
  call: () => ({ name: 'set-updates', args: {} }),
  script: setUpdates,
  codes: {
    'updates/automatic': {
      severity: 'error',
      summary: 'macOS installs its updates by itself.',
      cause:
        '`AutomaticallyInstallMacOSUpdates` is on or was never set. A Mac that updates and restarts at night leaves its mesh, and comes back with another version than its neighbours, or locked.',
      hint: prose`Set it with ${meshwright('apply')}.`,
    },
  },
  find: ({ desired, nodes }, codes) =>
    nodes
      .filter(({ facts }) => {
        const seen = read(facts, fact);
        return desired.macos.automaticUpdates === 'disabled' && seen.kind === 'known' && seen.value === 'on';
      })
      .map(({ name }) =>
        diagnose(codes['updates/automatic'], {
          subject: nodeSubject(name),
          detail: 'It may install an update at any night.',
        }),
      ),
});
