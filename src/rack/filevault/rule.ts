import { withCommands } from '../../diagnostics/prose-text.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { filevaultFact } from './fact.ts';

const stateWords = {
  on: 'FileVault is on: after every reboot it waits for a password.',
  off: 'FileVault is off.',
  converting: 'FileVault is being switched on or off and is not done.',
} as const;

/** Nodes whose FileVault is known to be otherwise than the file demands. */
export const filevault = defineNodeRule(
  {
    'filevault/differs': {
      severity: 'error',
      summary: 'FileVault is not as the file says.',
      cause: 'A Mac with FileVault stays locked after every reboot until somebody gives its password.',
      hint: 'System Settings > Privacy & Security > FileVault.',
      role: { blocks: 'filevault' },
      facts: [filevaultFact],
    },
  },
  ({ name, facts }, { desired }) => {
    const wanted = desired.system.fileVault;
    const seen = readValue(facts, filevaultFact);
    if (wanted === 'any' || seen === undefined || seen === (wanted === 'enabled' ? 'on' : 'off')) return [];
    const verb = wanted === 'enabled' ? 'enable' : 'disable';
    return {
      code: 'filevault/differs',
      detail: `${stateWords[seen]} The file says ${wanted}.`,
      hint:
        seen === 'converting'
          ? 'Wait until it is done.'
          : withCommands(prose`On ${named(name)}, at a terminal`, [`sudo fdesetup ${verb}`]),
    };
  },
);
