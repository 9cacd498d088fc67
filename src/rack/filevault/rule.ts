import { withCommands } from '../../diagnostics/prose-text.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { filevaultFact } from './fact.ts';

const stateWords = {
  on: 'FileVault is on, so the Mac waits for a password after every reboot.',
  off: 'FileVault is off.',
  converting: 'FileVault is still being switched on or off.',
} as const;

export const filevault = defineNodeRule(
  {
    'filevault/differs': {
      summary: 'FileVault does not match the file.',
      cause: 'A Mac with FileVault stays locked after every reboot until a person enters its password.',
      hint: 'Change it in System Settings > Privacy & Security > FileVault.',
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
      detail: `${stateWords[seen]} The file wants it ${wanted}.`,
      hint:
        seen === 'converting'
          ? 'Wait until it is done.'
          : withCommands(prose`On ${named(name)}, in a terminal`, [`sudo fdesetup ${verb}`]),
    };
  },
);
