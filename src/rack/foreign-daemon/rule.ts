import type { DesiredFleet } from '../../model/desired.ts';
import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from './adopted-daemon.ts';
import { foreignDaemonsFact } from './fact.ts';

const codes = {
  'network/foreign-daemon': {
    severity: 'error',
    summary: 'A network daemon of somebody else sets the cables of this node.',
    cause:
      'Two that set the same addresses undo each other for ever: exo puts every cable back on DHCP each half an hour (exo issues 1158, 2007, 2067). Nothing of the network of the cables is changed until the file says who is to have it.',
    hint: 'Write `foreignDaemons` under `thunderbolt` in the file: stop (unloaded and disabled), remove (its plist goes as well), or adopt (it keeps the cables).',
    role: { blocks: 'foreign-daemon' },
    facts: [foreignDaemonsFact],
  },
  'network/foreign-daemon-there': {
    severity: 'error',
    summary: 'A network daemon of somebody else is still there.',
    cause: 'The file wants it stopped or removed, and launchd has it loaded or will load it at the next start.',
    hint: prose`Take it away with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [foreignDaemonsFact],
  },
  'network/cables-adopted': {
    severity: 'error',
    summary: 'A placement needs addresses that a network daemon of somebody else would undo.',
    cause:
      'The members of a placement meet at the fixed addresses of their cables. The file adopts the daemon of this node, so nobody sets them.',
    hint: 'Write `foreignDaemons: stop` or `remove` into the file, or take the node out of the placement.',
    role: { blocks: 'link-address' },
    facts: [foreignDaemonsFact],
  },
  'network/foreign-daemon-adopted': {
    severity: 'notice',
    summary: 'A network daemon of somebody else keeps the cables of this node.',
    cause: 'The file adopts it: bridge, addresses and service order of this node are left to it.',
    hint: 'Expect addresses to change by themselves; placements with their own addresses need stop or remove.',
    role: 'told',
    facts: [foreignDaemonsFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

/** What is to be said of a daemon that is there; one that is unloaded and disabled may stay, unless it is to be removed. */
function codeOf(
  { thunderbolt }: DesiredFleet,
  { isLoaded, isDisabled }: ForeignDaemon,
): Pick<Found, 'code'> | undefined {
  const wish = thunderbolt.foreignDaemons;
  const isOver = !isLoaded && isDisabled;
  if (wish === 'remove' || (wish === 'stop' && !isOver)) return { code: 'network/foreign-daemon-there' };
  return isOver ? undefined : { code: wish === 'adopt' ? 'network/foreign-daemon-adopted' : 'network/foreign-daemon' };
}

const judge = (desired: DesiredFleet, { facts }: ExaminedNode): readonly Found[] =>
  (readValue(facts, foreignDaemonsFact) ?? []).flatMap((daemon) => {
    const found = codeOf(desired, daemon);
    const about = knownDaemons.find(({ label }) => label === daemon.label);
    const state = daemon.isLoaded ? 'loaded' : 'not loaded';
    const detail = `${daemon.label} of ${about?.owner ?? 'somebody'} is ${state}; it ${about?.habit ?? 'sets the network'}.`;
    return found === undefined ? [] : { ...found, detail };
  });

/** Placements over several nodes that are to serve on a node whose cables are somebody else's. */
function heldUp(desired: DesiredFleet, { name, facts }: ExaminedNode): readonly Found[] {
  const label = adoptedDaemon(desired, facts);
  const waiting = desired.placements.filter(
    ({ nodes, state }) => state === 'serving' && nodes.length > 1 && nodes.includes(name),
  );
  if (label === undefined || waiting.length === 0) return [];
  const names = waiting.map((one) => one.name).join(', ');
  return [
    { code: 'network/cables-adopted', detail: prose`${names} would meet over cables that ${named(label)} sets.` },
  ];
}

/** Network daemons of others, on a node whose cables are ours to set. */
export const foreignDaemons = defineNodeRule(codes, (node, { desired }) => {
  const { bridge, pool } = desired.thunderbolt;
  return bridge === 'keep' && pool === undefined ? [] : [...judge(desired, node), ...heldUp(desired, node)];
});
