import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { seenValue } from '../../model/known.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { mapWords, named, prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { keeperFact } from '../keeper/fact.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from '../network/services.ts';
import { sudoFact } from './fact.ts';

/** Nodes on which `sudo -n` does not answer, so that nothing could be changed there. */
export const sudo = defineNodeRule(
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
  ({ name, facts }) => {
    const seen = readValue(facts, sudoFact);
    if (seen === undefined || seen === 'allowed') return [];
    const hint = withCommands('See the line to add', [meshwright('enroll', name)]);
    return seen === 'denied'
      ? { code: 'sudo/denied', detail: 'The user may not use sudo: this node can be looked at, not changed.', hint }
      : {
          code: 'sudo/needs-password',
          detail: 'sudo asks for a password: this node can be looked at, not changed.',
          hint,
        };
  },
);

const theSwitch =
  'On the Mac: System Settings > General > Sharing > Remote Login (i): allow full disk access for remote users.';

/** Macs that let no ssh session change their network preferences, as a run has found when it tried. */
export const fullDiskAccess = defineNodeRule(
  {
    'network/no-full-disk-access': {
      severity: 'warning',
      summary: 'A Mac lets no ssh session change its network preferences.',
      cause:
        'Remote Login was switched on without full disk access for remote users, and networksetup was refused when a run tried to set something. Addresses and the removal of the bridge hold all the same: the keeper puts them back within a minute. What only networksetup can set stays as it is.',
      hint: theSwitch,
      role: 'told',
      facts: [keeperFact],
    },
  },
  ({ name, facts }, { desired }) => {
    if (!isLeftToKeeper(desired, facts) || adoptedDaemon(desired, facts) !== undefined) return [];
    const misplaced = seenValue(misplacedServices(facts)) ?? [];
    const isMisplaced = desired.thunderbolt.pool !== undefined && misplaced.length > 0;
    const order = isMisplaced ? ` Nobody mends the order of its services: ${orderWords(misplaced)}.` : '';
    return {
      code: 'network/no-full-disk-access',
      detail: mapWords(
        prose`networksetup was refused on ${named(name)}: its interfaces have their addresses from ifconfig, and the keeper puts them back.${order}`,
        escapeText,
      ),
      hint: withCommands(
        prose`${theSwitch} Before the next ${aside(meshwright('apply'))}, take the mark of this away there`,
        ['sudo rm "/Library/Application Support/meshwright/no-full-disk-access"'],
      ),
    };
  },
);
