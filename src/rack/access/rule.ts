import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { mapWords, named, prose } from '../../model/text/prose.ts';
import { defineRule, ruleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { keeperFact } from '../keeper/fact.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from '../network/services.ts';
import { sudoFact } from './fact.ts';

/** Nodes on which `sudo -n` does not answer, so that nothing could be changed there. */
export const sudo = defineRule(
  {
    'sudo/needs-password': {
      severity: 'warning',
      summary: 'sudo asks for a password on this node.',
      cause: 'Looking needs no root, but every change does, and nobody is there to type a password.',
      hint: prose`See the exact line to add: ${meshwright('enroll')}`,
      role: { blocks: 'sudo' },
      facts: [sudoFact],
    },
    'sudo/denied': {
      severity: 'warning',
      summary: 'The user may not use sudo on this node.',
      cause: 'The ssh user is in no sudoers rule: meshwright can look at the node and change nothing.',
      hint: prose`See the exact line to add: ${meshwright('enroll')}`,
      role: { blocks: 'sudo' },
      facts: [sudoFact],
    },
  },
  ({ nodes }, codes) =>
    nodes.flatMap(({ name, facts }) => {
      const seen = read(facts, sudoFact);
      if (seen.kind === 'unknown' || seen.value === 'allowed') return [];
      const detail =
        seen.value === 'denied'
          ? 'The user may not use sudo: this node can be looked at, not changed.'
          : 'sudo asks for a password: this node can be looked at, not changed.';
      const code = seen.value === 'denied' ? 'sudo/denied' : 'sudo/needs-password';
      return [
        diagnose(codes[code], {
          subject: nodeSubject(name),
          detail,
          hint: withCommands('See the line to add', [meshwright('enroll', name)]),
        }),
      ];
    }),
);

const codes = ruleCodes({
  'network/no-full-disk-access': {
    severity: 'warning',
    summary: 'A Mac lets no ssh session change its network preferences.',
    cause:
      'Remote Login was switched on without full disk access for remote users, and networksetup was refused when a run tried to set something. Addresses and the removal of the bridge hold all the same: the keeper puts them back within a minute. What only networksetup can set stays as it is.',
    hint: 'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.',
    role: 'told',
    facts: [keeperFact],
  },
});

const theSwitch =
  'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.';

function tell({ name, facts }: ExaminedNode, hasPool: boolean): Diagnostic {
  const misplaced = misplacedServices(facts);
  const isMisplaced = hasPool && misplaced.kind === 'known' && misplaced.value.length > 0;
  const order = isMisplaced ? ` Nobody mends the order of its services: ${orderWords(misplaced.value)}.` : '';
  return diagnose(codes['network/no-full-disk-access'], {
    subject: nodeSubject(name),
    detail: mapWords(
      prose`networksetup was refused on ${named(name)}: its interfaces have their addresses from ifconfig, and the keeper puts them back.${order}`,
      escapeText,
    ),
    hint: withCommands(
      prose`${theSwitch} Before the next ${aside(meshwright('apply'))}, take the mark of this away there`,
      ['sudo rm "/Library/Application Support/meshwright/no-full-disk-access"'],
    ),
  });
}

/** Macs that let no ssh session change their network preferences, as a run has found when it tried. */
export const fullDiskAccess = defineRule(codes, ({ desired, nodes }) =>
  nodes
    .filter(({ facts }) => isLeftToKeeper(desired, facts) && adoptedDaemon(desired, facts) === undefined)
    .map((node) => tell(node, desired.thunderbolt.pool !== undefined)),
);
