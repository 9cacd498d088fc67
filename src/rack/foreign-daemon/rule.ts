import type { DesiredFleet } from '../../model/desired.ts';
import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { readValue } from '../fact.ts';
import { foreignDaemonsFact } from './fact.ts';
import { adoptedDaemon } from './reading.ts';

const codes = {
  'network/foreign-daemon': {
    summary: "A foreign network daemon manages this node's cables.",
    cause:
      "Two programs that set the same addresses undo each other forever: exo sets every cable back to DHCP every half hour (exo issues 1158, 2007, 2067). meshwright does not change the cables' network until the file decides which program manages it.",
    hint: 'Set `foreignDaemons` under `thunderbolt` in the file: stop (unload and disable it), remove (also remove its plist), or adopt (let it manage the cables).',
    role: { blocks: 'foreign-daemon' },
    facts: [foreignDaemonsFact],
  },
  'network/foreign-daemon-there': {
    summary: 'A foreign network daemon is still present.',
    cause: 'The file wants the daemon stopped or removed, but it is still loaded, enabled or installed.',
    hint: prose`Stop or remove it with ${meshwright('apply')}.`,
    role: 'converged',
    facts: [foreignDaemonsFact],
  },
  'network/cables-adopted': {
    summary: 'A placement needs addresses that a foreign network daemon would undo.',
    cause:
      "A placement's ranks connect over the fixed addresses of their cables. The file adopts this node's daemon, so meshwright does not set these addresses.",
    hint: 'Set `foreignDaemons: stop` or `foreignDaemons: remove` in the file, or remove the node from the placement.',
    role: { blocks: 'link-address' },
    facts: [foreignDaemonsFact],
  },
  'network/foreign-daemon-adopted': {
    severity: 'notice',
    summary: "An adopted network daemon manages this node's cables.",
    cause: "The file adopts the daemon, so meshwright leaves this node's bridge, addresses and service order to it.",
    hint: 'Expect addresses to change without notice. For placements with fixed addresses, set stop or remove.',
    facts: [foreignDaemonsFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

/** The code for an installed daemon. An unloaded and disabled daemon gets none, unless the file wants it removed. */
function codeOf(
  { thunderbolt }: DesiredFleet,
  { isLoaded, isDisabled }: ForeignDaemon,
): Pick<Found, 'code'> | undefined {
  const { foreignDaemons } = thunderbolt;
  const isOver = !isLoaded && isDisabled;
  if (foreignDaemons === 'remove' || (foreignDaemons === 'stop' && !isOver))
    return { code: 'network/foreign-daemon-there' };
  return isOver
    ? undefined
    : { code: foreignDaemons === 'adopt' ? 'network/foreign-daemon-adopted' : 'network/foreign-daemon' };
}

const judge = (desired: DesiredFleet, { facts }: ExaminedNode): readonly Found[] =>
  (readValue(facts, foreignDaemonsFact) ?? []).flatMap((daemon) => {
    const found = codeOf(desired, daemon);
    const about = knownDaemons.find(({ label }) => label === daemon.label);
    const state = daemon.isLoaded ? 'loaded' : 'not loaded';
    const detail = `${daemon.label} of ${about?.owner ?? 'an unknown owner'} is ${state}; it ${about?.habit ?? 'sets the network'}.`;
    return found === undefined ? [] : { ...found, detail };
  });

/** Placements across several nodes that should serve although one node has an adopted daemon. */
function heldUp(desired: DesiredFleet, { name, facts }: ExaminedNode): readonly Found[] {
  const label = adoptedDaemon(desired, facts);
  const waiting = desired.placements.filter(
    ({ nodes, state }) => state === 'serving' && nodes.length > 1 && nodes.includes(name),
  );
  if (label === undefined || waiting.length === 0) return [];
  const names = waiting.map((one) => one.name).join(', ');
  return [
    {
      code: 'network/cables-adopted',
      detail: prose`The ranks of ${names} would meet over cables that ${named(label)} manages.`,
    },
  ];
}

export const foreignDaemons = defineNodeRule(codes, (node, { desired }) => {
  const { bridge, pool } = desired.thunderbolt;
  return bridge === 'keep' && pool === undefined ? [] : [...judge(desired, node), ...heldUp(desired, node)];
});
