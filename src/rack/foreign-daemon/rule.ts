import { type DiagnosticCode, diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type ForeignDaemon, knownDaemons } from '../../model/facts/daemons.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { adoptedDaemon } from './adopted-daemon.ts';
import { foreignDaemonsFact } from './fact.ts';

interface Told {
  readonly code: DiagnosticCode;
}

/** What is to be said of a daemon that is there; one that is unloaded and disabled may stay, unless it is to be removed. */
function toldOf({ thunderbolt }: DesiredFleet, { isLoaded, isDisabled }: ForeignDaemon): Told | undefined {
  const wish = thunderbolt.foreignDaemons;
  const isOver = !isLoaded && isDisabled;
  if (wish === 'remove' || (wish === 'stop' && !isOver)) {
    return { code: 'network/foreign-daemon-there' };
  }
  if (isOver) {
    return undefined;
  }
  return wish === 'adopt' ? { code: 'network/foreign-daemon-adopted' } : { code: 'network/foreign-daemon' };
}

function judge(desired: DesiredFleet, { name, facts }: ExaminedNode): readonly Diagnostic[] {
  const found = read(facts, foreignDaemonsFact);
  return (found.kind === 'known' ? found.value : []).flatMap((daemon) => {
    const told = toldOf(desired, daemon);
    const about = knownDaemons.find(({ label }) => label === daemon.label);
    const state = daemon.isLoaded ? 'loaded' : 'not loaded';
    return told === undefined
      ? []
      : [
          diagnose(told.code, {
            subject: nodeSubject(name),
            detail: `${daemon.label} of ${about?.owner ?? 'somebody'} is ${state}; it ${about?.habit ?? 'sets the network'}.`,
          }),
        ];
  });
}

/** Placements over several nodes that are to serve on a node whose cables are somebody else's. */
function heldUp(desired: DesiredFleet, { name, facts }: ExaminedNode): readonly Diagnostic[] {
  const label = adoptedDaemon(desired, facts);
  const waiting = desired.placements.filter(
    ({ nodes, state }) => state === 'serving' && nodes.length > 1 && nodes.includes(name),
  );
  return label === undefined || waiting.length === 0
    ? []
    : [
        diagnose('network/cables-adopted', {
          subject: nodeSubject(name),
          detail: prose`${waiting.map((one) => one.name).join(', ')} would meet over cables that ${named(label)} sets.`,
        }),
      ];
}

/** Network daemons of others, on a node whose cables are ours to set. */
export const foreignDaemons: Rule = ({ desired, nodes }) => {
  const { bridge, pool } = desired.thunderbolt;
  return bridge === 'keep' && pool === undefined
    ? []
    : nodes.flatMap((node) => [...judge(desired, node), ...heldUp(desired, node)]);
};
