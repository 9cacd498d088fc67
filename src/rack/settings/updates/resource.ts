import type { FactValues } from '../../../model/facts/fact-values.ts';
import { settingResource } from '../../setting.ts';

type Updates = FactValues['automatic-updates'];

/** Whether macOS updates itself. @see defaults(1), `AutomaticallyInstallMacOSUpdates` */
export const updates = settingResource<Updates>({
  kind: 'updates',
  wanted: ({ macos }) => (macos.automaticUpdates === 'disabled' ? 'off' : undefined),
  observed: (facts) => facts['automatic-updates'],
  words: (value) => (value === 'on' ? 'macOS updates itself' : 'macOS installs no update by itself'),
  key: 'macos.updates.automatic',
  call: () => ({ name: 'set-updates', args: {} }),
});
