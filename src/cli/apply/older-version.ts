import { listText } from '../../desired/did-you-mean.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { DesiredRuntime } from '../../model/desired.ts';
import { type Digest, shortDigest } from '../../model/digest.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { runtimeSubject } from '../../model/subject.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';

/** What is looked for. */
export interface OlderWish {
  readonly runtime: DesiredRuntime;
  /** The nodes that use it. */
  readonly nodes: readonly NodeName[];
  /** The first digits of the one that is meant; absent where there is only one. */
  readonly to: string | undefined;
}

/**
 * The one version that all these nodes have whole, and that is neither the one wished for now nor the one that was
 * left. A runtime that was taken back and is not there yet, or has nowhere else to go, has the one wished for.
 * @throws FleetError `rollback/no-version` when there is none, or when several could be meant
 */
export function olderVersion({ runtime, nodes, to }: OlderWish, observation: FleetObservation): Digest {
  const kept = nodes.map((node) => ({ node, trees: treesOn(node, runtime, observation) }));
  const isEverywhere = (whole: Digest): boolean =>
    kept.every(({ trees }) => trees.some((one) => one.whole === whole && one.state === 'intact'));
  const all = new Set(kept.flatMap(({ trees }) => trees.flatMap(({ whole }) => whole ?? [])));
  const isMeant = (whole: Digest): boolean => to === undefined || whole.startsWith(to);
  const begun = runtime.takenBackFrom === undefined ? undefined : runtime.digest;
  const isThere = kept.every(({ trees }) => trees.some(({ whole, isCurrent }) => isCurrent && whole === begun));
  if (begun !== undefined && isMeant(begun) && !isThere) return begun;
  const found = [...all]
    .filter((whole) => whole !== runtime.digest && whole !== runtime.takenBackFrom && isEverywhere(whole))
    .filter(isMeant);
  const [first, ...others] = found.toSorted();
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined && begun !== undefined && isMeant(begun)) return begun;
  const there = kept.map(({ node, trees }) => `${node} has ${versionsText(trees)}`).join('; ');
  throw new FleetError([
    diagnose('rollback/no-version', {
      subject: runtimeSubject(runtime.name),
      detail:
        first === undefined
          ? `${there}. None of them${to === undefined ? '' : ` that begins with ${to}`} is older and everywhere.`
          : `${there}. Several of them are older and everywhere.`,
      ...(first === undefined ? {} : { hint: `Say which: --to ${shortDigest(first)}` }),
    }),
  ]);
}

function treesOn(node: NodeName, { name }: DesiredRuntime, { nodes }: FleetObservation): readonly KeptTree[] {
  const trees = nodes[node]?.facts.trees;
  if (trees?.kind !== 'known') return [];
  return trees.value.filter((one) => one.kind === 'runtime' && one.name === name && one.state !== 'staged');
}

const versionsText = (trees: readonly KeptTree[]): string =>
  trees.length === 0
    ? 'none that could be seen'
    : listText(
        trees.map(
          ({ digest, isCurrent, state }) =>
            `${digest}${isCurrent ? ' (in use)' : ''}${state === 'intact' ? '' : ` (${state})`}`,
        ),
      );
