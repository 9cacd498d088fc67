import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { seenValue } from '../../model/known.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { mapWords, named, prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { keeperFact } from '../keeper/fact.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from '../network/services-reading.ts';
import { sudoFact } from './fact.ts';

const blocking = {
  severity: 'warning',
  hint: prose`See the exact line to add: ${meshwright('enroll')}`,
  role: { blocks: 'sudo' },
  facts: [sudoFact],
} as const;

export const sudo = defineNodeRule(
  {
    'sudo/needs-password': {
      summary: 'sudo asks for a password on this node.',
      cause: 'Observing a node does not require root, but every change does, and meshwright cannot enter a password.',
      ...blocking,
    },
    'sudo/denied': {
      summary: 'The ssh user may not use sudo on this node.',
      cause: 'No sudo rule names the ssh user, so meshwright can observe this node but cannot change anything.',
      ...blocking,
    },
  },
  ({ name, facts }) => {
    const seen = readValue(facts, sudoFact);
    if (seen === undefined || seen === 'allowed') return [];
    const why = seen === 'denied' ? 'The ssh user may not use sudo' : 'sudo asks for a password';
    return {
      code: seen === 'denied' ? 'sudo/denied' : 'sudo/needs-password',
      detail: `${why}: this node can be observed but not changed.`,
      hint: withCommands('See the line to add', [meshwright('enroll', name)]),
    };
  },
);

const theSwitch =
  'On the Mac, open System Settings > General > Sharing > Remote Login (i) and allow full disk access for remote users.';

/** Macs that did not let an earlier run change the network preferences over ssh. */
export const fullDiskAccess = defineNodeRule(
  {
    'network/no-full-disk-access': {
      severity: 'warning',
      summary: 'This Mac does not let ssh sessions change its network preferences.',
      cause:
        'Remote Login is on without full disk access for remote users, so macOS refused networksetup in an earlier run. The keeper keeps the addresses and the bridge removal anyway: it restores them within a minute. Settings that only networksetup can change remain unchanged.',
      hint: theSwitch,
      facts: [keeperFact],
    },
  },
  ({ name, facts }, { desired }) => {
    if (!isLeftToKeeper(desired, facts) || adoptedDaemon(desired, facts) !== undefined) return [];
    const misplaced = seenValue(misplacedServices(facts)) ?? [];
    const isMisplaced = desired.thunderbolt.pool !== undefined && misplaced.length > 0;
    const order = isMisplaced ? ` Its network service order remains wrong: ${orderWords(misplaced)}.` : '';
    return {
      code: 'network/no-full-disk-access',
      detail: mapWords(
        prose`macOS refused networksetup on ${named(name)}. Its interfaces got their addresses from ifconfig, and the keeper restores them.${order}`,
        escapeText,
      ),
      hint: withCommands(
        prose`${theSwitch} Before the next ${aside(meshwright('apply'))}, delete meshwright's mark on the Mac`,
        ['sudo rm "/Library/Application Support/meshwright/no-full-disk-access"'],
      ),
    };
  },
);
