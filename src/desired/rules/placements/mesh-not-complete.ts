import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { type DraftPlacement, draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';

type Pair = readonly [string, string];

/**
 * The links join the nodes of a placement as its sharding needs them: every pair for tensor; for pipeline each with the
 * next and the last with the first, which is also the ring by which every rank has an address. mlx can talk round such a
 * ring with either sharding. Links or nodes that are wrong in themselves are told as such, and nothing is concluded from
 * them.
 */
export function meshNotComplete(draft: Draft): readonly Finding[] {
  if (!areLinksSane(draft)) return [];
  const linked = new Set(draft.links.flatMap(({ ends: [a, b] }) => [keyOf([a.node, b.node]), keyOf([b.node, a.node])]));
  const ringing = new Set(draft.runtimes.filter(({ driver }) => driver?.text === 'mlx').map(({ name }) => name));
  return draftLayouts(draft.placements).flatMap((placement) => {
    const sharding = placement.sharding?.text;
    const names = placement.nodes.map(({ text }) => text);
    if ((sharding !== 'tensor' && sharding !== 'pipeline') || !isJudged(placement, names, draft)) return [];
    const isRing = ringing.has(placement.runtime?.text ?? '') && placement.backend?.text !== 'jaccl';
    const shape = isRing ? 'pipeline' : sharding;
    const missing = (shape === 'tensor' ? pairsOf(names) : ringOf(names)).filter((pair) => !linked.has(keyOf(pair)));
    return missing.length === 0 ? [] : [finding(placement, shape, missing)];
  });
}

const keyOf = ([a, b]: Pair): string => `${a} ${b}`;

const areLinksSane = ({ links, hasAllLinks, nodeNames }: Draft): boolean =>
  hasAllLinks && links.every(({ ends }) => ends.every(({ node }) => nodeNames.has(node)));

const isJudged = ({ hasAllNodes }: DraftPlacement, names: readonly string[], { nodeNames }: Draft): boolean =>
  hasAllNodes && new Set(names).size === names.length && names.every((name) => nodeNames.has(name));

const pairsOf = (names: readonly string[]): readonly Pair[] =>
  names.flatMap((name, index) => names.slice(index + 1).map((other): Pair => [name, other]));

/** Each with the next one, and the last with the first; of two nodes that is one pair, of one node none. */
function ringOf(names: readonly string[]): readonly Pair[] {
  const pairs = names.slice(1).map((name, index): Pair => [names[index] ?? '', name]);
  const [first, last] = [names[0], names.at(-1)];
  return names.length < 3 || first === undefined || last === undefined ? pairs : [...pairs, [last, first]];
}

function finding(
  { name, pointer, isFallback }: DraftPlacement,
  sharding: 'tensor' | 'pipeline',
  missing: readonly Pair[],
): Finding {
  const pairs = missing.map(([a, b]) => `${a} and ${b}`);
  const count = pairs.length === 1 ? 'one link is missing' : `${pairs.length} links are missing`;
  const words = {
    pointer: `${pointer}/${isFallback === true ? 'nodes' : 'sharding'}`,
    at: 'value',
    label: count,
    detail: `No link joins ${pairs.join(', ')}.`,
    subject: placementSubject(name),
  } as const;
  return sharding === 'tensor'
    ? { ...words, code: 'placement/mesh-not-complete' }
    : { ...words, code: 'placement/ring-not-complete' };
}
