import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import { read } from '../fact.ts';
import { filevaultFact } from './fact.ts';

const stateWords = {
  on: 'FileVault is on: after every reboot it waits for a password.',
  off: 'FileVault is off.',
  converting: 'FileVault is being switched on or off and is not done.',
} as const;

/** Nodes whose FileVault is known to be otherwise than the file demands. */
export const filevault = defineRule(
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
  ({ desired, nodes }, codes) =>
    nodes.flatMap(({ name, facts }) => {
      const wanted = desired.system.fileVault;
      const seen = read(facts, filevaultFact);
      const wantedState = wanted === 'enabled' ? 'on' : 'off';
      if (wanted === 'any' || seen.kind === 'unknown' || seen.value === wantedState) return [];
      const verb = wanted === 'enabled' ? 'enable' : 'disable';
      return [
        diagnose(codes['filevault/differs'], {
          subject: nodeSubject(name),
          detail: `${stateWords[seen.value]} The file says ${wanted}.`,
          hint:
            seen.value === 'converting'
              ? 'Wait until it is done.'
              : withCommands(prose`On ${named(name)}, at a terminal`, [`sudo fdesetup ${verb}`]),
        }),
      ];
    }),
);
