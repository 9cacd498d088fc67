import type { FactValues } from '../../../model/facts/fact-values.ts';
import { settingResource } from '../../setting.ts';

type Firewall = FactValues['firewall'];

/** The application firewall, which can only be wanted off. */
export const firewall = settingResource<Firewall>({
  kind: 'firewall',
  wanted: ({ system }) => (system.firewall === 'disabled' ? 'off' : undefined),
  observed: (facts) => facts.firewall,
  words: (value) => (value === 'blocks-all' ? 'blocks everything' : value),
  key: 'system.firewall',
  call: () => ({ name: 'stop-firewall', args: {} }),
});
