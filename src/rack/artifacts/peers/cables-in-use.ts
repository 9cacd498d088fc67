import type { Facts, RecordedRank } from '../../../model/facts/fact-values.ts';
import { andThen, type Known, known, seenValue } from '../../../model/known.ts';
import type { Link, NodeName } from '../../../model/node.ts';
import type { JudgedLink } from '../../cabling/judge-cabling.ts';
import { read } from '../../fact.ts';
import { isRunning, seeRank } from '../../placement/mesh/rank-states.ts';
import { placementsFact } from '../../placement/observed/fact.ts';
import type { ObservedTarget, View } from '../../resource.ts';

/** The running placements on a node among those whose records are selected. */
export function runningOn(
  node: NodeName,
  facts: Facts,
  isSelected: (record: RecordedRank) => boolean = () => true,
): Known<readonly string[]> {
  return andThen(read(facts, placementsFact), (records) => {
    const running: string[] = [];
    for (const record of records.filter(isSelected)) {
      const { seen } = seeRank(node, record.placement, facts);
      if (seen.kind === 'unknown') return seen;
      if (isRunning(seen.value)) running.push(record.placement);
    }
    return known(running);
  });
}

/** The links that no running placement uses. If the ranks of an end are unknown, one may run there. */
export function freeLinks({ examination, targets }: View): readonly JudgedLink[] {
  const isUsed = linkUse(targets);
  return examination.cabling.links.filter(({ link }) => isUsed(link) === false);
}

/** Whether a running placement has ranks at both ends of a link; undefined if the ranks of an end are unknown. */
export function linkUse(targets: readonly ObservedTarget[]): (link: Pick<Link, 'ends'>) => boolean | undefined {
  const running = new Map(
    targets.map(({ desired: { name }, facts }) => [name, seenValue(runningOn(name, facts))] as const),
  );
  return ({ ends }) => {
    const [own, other] = ends.map(({ node }) => running.get(node));
    return own && other && own.some((placement) => other.includes(placement));
  };
}
