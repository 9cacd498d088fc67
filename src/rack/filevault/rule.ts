import { diagnose } from '../../diagnostics/diagnose.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { filevaultFact } from './fact.ts';

const stateWords = {
  on: 'FileVault is on: after every reboot it waits for a password.',
  off: 'FileVault is off.',
  converting: 'FileVault is being switched on or off and is not done.',
} as const;

/** Nodes whose FileVault is known to be otherwise than the file demands. */
export const filevault: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const wanted = desired.system.fileVault;
    const seen = read(facts, filevaultFact);
    const wantedState = wanted === 'enabled' ? 'on' : 'off';
    if (wanted === 'any' || seen.kind === 'unknown' || seen.value === wantedState) {
      return [];
    }
    const verb = wanted === 'enabled' ? 'enable' : 'disable';
    return [
      diagnose('filevault/differs', {
        subject: nodeSubject(name),
        detail: `${stateWords[seen.value]} The file says ${wanted}.`,
        hint:
          seen.value === 'converting'
            ? 'Wait until it is done.'
            : withCommands(prose`On ${named(name)}, at a terminal`, [`sudo fdesetup ${verb}`]),
      }),
    ];
  });
