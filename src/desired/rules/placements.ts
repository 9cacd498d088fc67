import type { GeneralCode } from '../../diagnostics/diagnose.ts';
import { everyPair } from '../../model/lists.ts';
import { macModel } from '../../model/macs.ts';
import { placementSubject } from '../../model/subject.ts';
import { type Choices, choicesAmong, nameHint } from '../did-you-mean.ts';
import {
  type Draft,
  type DraftPlacement,
  type DraftText,
  draftLayouts,
  draftNodesByName,
  pointerTo,
} from '../draft.ts';
import { paceOf } from '../fit-macs.ts';
import { type FileFinding, type FileRule, type KeysByDriver, type PlaceText, repeats } from './rule.ts';

export const placementRules: readonly FileRule[] = [
  unknownInPlacement,
  nodeTwice,
  fallbackSameNodes,
  shardingMissing,
  sharesDiffer,
  needsAddressing,
  meshNotComplete,
  placementNoRdma,
  unequalMacs,
];

/** A kind of name in a placement, with the known names. */
interface Named {
  readonly code: GeneralCode;
  readonly kind: 'node' | 'model' | 'runtime';
  readonly known: ReadonlySet<string>;
  readonly choices: Choices;
}

/** Every node, model and runtime of a placement must be in the file. */
function unknownInPlacement(draft: Draft): readonly FileFinding[] {
  const named = (what: Pick<Named, 'code' | 'kind' | 'known'>, all: readonly { readonly name: string }[]): Named => ({
    ...what,
    choices: choicesAmong(all.map(({ name }) => name)),
  });
  const nodes = named({ code: 'placement/unknown-node', kind: 'node', known: draft.nodeNames }, draft.nodes);
  const models = named({ code: 'placement/unknown-model', kind: 'model', known: draft.modelNames }, draft.models);
  const runtimes = named(
    { code: 'placement/unknown-runtime', kind: 'runtime', known: draft.runtimeNames },
    draft.runtimes,
  );
  return draft.placements.flatMap(({ name, model, drafter, runtime, nodes: members, fallback }) => [
    ...unknown(model, models, name),
    ...unknown(drafter, models, name),
    ...unknown(runtime, runtimes, name),
    // A file without nodes has its own error, from the schema.
    ...(draft.nodeNames.size === 0 ? [] : [...members, ...(fallback?.nodes ?? [])]).flatMap((member) =>
      unknown(member, nodes, name),
    ),
  ]);
}

function unknown(text: DraftText | undefined, named: Named, placement: string): readonly FileFinding[] {
  const { code, kind, known, choices } = named;
  if (text === undefined || !text.isText || known.has(text.text)) return [];
  const { pointer } = text;
  const detail = `This file has no ${kind} \`${text.text}\`.`;
  const all = choices.list === '' ? undefined : `The ${kind}s are ${choices.list}.`;
  return [{ code, pointer, detail, subject: placementSubject(placement), ...nameHint(choices.near(text.text), all) }];
}

/** A fallback must leave out one of its placement's nodes, because it is needed when a node fails. */
function fallbackSameNodes({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, nodes, fallback }) => {
    const own = new Set(nodes.map(({ text }) => text));
    const there = new Set(fallback?.nodes.map(({ text }) => text));
    if (fallback === undefined || own.size === 0 || [...own].some((node) => !there.has(node))) return [];
    return {
      code: 'placement/fallback-same-nodes',
      pointer: `${fallback.pointer}/nodes`,
      at: 'key',
      detail: `It uses ${own.size === 1 ? 'the only node' : 'every node'} of ${name}: ${[...own].join(', ')}.`,
      subject: placementSubject(name),
    };
  });
}

function sharesDiffer({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, pointer, nodes, hasAllNodes, shareCount }) => {
    if (shareCount === undefined || !hasAllNodes || shareCount === nodes.length) return [];
    return {
      code: 'placement/shares-differ',
      pointer: pointerTo(pointer, 'shares'),
      detail: `${name} has ${nodes.length === 1 ? 'one node' : `${nodes.length} nodes`} and ${shareCount === 1 ? 'one share' : `${shareCount} shares`}.`,
      subject: placementSubject(name),
    };
  });
}

/** A model on two or more nodes needs `sharding`. */
function shardingMissing(draft: Draft): readonly FileFinding[] {
  return draftLayouts(draft.placements).flatMap(({ name, pointer, nodes, hasSharding }) => {
    if (hasSharding || nodes.length < 2) return [];
    return {
      code: 'placement/sharding-missing',
      pointer,
      at: 'key',
      detail: `${name} has ${nodes.length} nodes.`,
      subject: placementSubject(name),
    };
  });
}

/** Reports the slowest Macs of a placement with unequal declared models. */
function unequalMacs(draft: Draft): readonly FileFinding[] {
  const byName = draftNodesByName(draft);
  return draftLayouts(draft.placements).flatMap(({ name, nodes, pointer, isFallback }) => {
    const macs = nodes.flatMap(({ text }) => {
      const model = byName.get(text)?.model?.text;
      return model === undefined ? [] : [{ name: text, model }];
    });
    const pace = macs.length < nodes.length ? undefined : paceOf(macs);
    if (pace === undefined) return [];
    const slow = nodes.find(({ text }) => pace.slowest.includes(text));
    return {
      code: 'placement/unequal-macs',
      pointer: slow?.pointer ?? pointer,
      detail: isFallback === true ? `On its fallback: ${pace.detail}` : pace.detail,
      subject: placementSubject(name),
    };
  });
}

/** An RDMA placement needs Macs that support RDMA. Unknown models are skipped. */
function placementNoRdma(draft: Draft): readonly FileFinding[] {
  const byName = draftNodesByName(draft);
  return draftLayouts(draft.placements).flatMap(({ name, transport, nodes }) => {
    if (transport?.text !== 'rdma') return [];
    return nodes.flatMap((node) => {
      const declared = byName.get(node.text)?.model;
      const model = declared === undefined ? undefined : macModel(declared.text);
      if (declared === undefined || model === undefined || model.thunderbolt === 5) return [];
      return {
        code: 'placement/no-rdma',
        pointer: node.pointer,
        detail: `${node.text} is a ${model.name} with Thunderbolt ${model.thunderbolt}.`,
        subject: placementSubject(name),
        others: [{ pointer: declared.pointer, detail: 'The model is declared here.' }],
      };
    });
  });
}

/** Ranks on two or more nodes connect over link addresses, so they need a pool. */
function needsAddressing(draft: Draft): readonly FileFinding[] {
  if (draft.hasPool) return [];
  return draftLayouts(draft.placements).flatMap(({ name, pointer, nodes }) => {
    if (new Set(nodes.map(({ text }) => text)).size < 2) return [];
    return {
      code: 'placement/needs-addressing',
      pointer: `${pointer}/nodes`,
      at: 'key',
      detail: `${name} has ${nodes.length} ranks, and the file has no \`thunderbolt.addressing.pool\`.`,
      subject: placementSubject(name),
    };
  });
}

type Pair = readonly [string, string];

/**
 * Tensor sharding needs a link between every pair of nodes; pipeline needs a ring in the order of `nodes`. With a
 * driver that supports rings, a ring is enough for either sharding. Links or nodes with other errors are skipped.
 */
function meshNotComplete(draft: Draft, _place: PlaceText, drivers: KeysByDriver): readonly FileFinding[] {
  if (!areLinksSane(draft)) return [];
  const linked = new Set(draft.links.flatMap(({ ends: [a, b] }) => [keyOf([a.node, b.node]), keyOf([b.node, a.node])]));
  const inRings = [...drivers].flatMap(([driver, { talksInRings }]) => (talksInRings ? driver : []));
  const ringing = new Set(
    draft.runtimes.filter(({ driver }) => inRings.includes(driver?.text ?? '')).map(({ name }) => name),
  );
  return draftLayouts(draft.placements).flatMap((placement) => {
    const sharding = placement.sharding?.text;
    const names = placement.nodes.map(({ text }) => text);
    if ((sharding !== 'tensor' && sharding !== 'pipeline') || !isJudged(placement, names, draft)) return [];
    const isRing = ringing.has(placement.runtime?.text ?? '') && placement.backend?.text !== 'jaccl';
    const shape = isRing ? 'pipeline' : sharding;
    const missing = (shape === 'tensor' ? everyPair(names) : ringOf(names)).filter((pair) => !linked.has(keyOf(pair)));
    return missing.length === 0 ? [] : [finding(placement, shape, missing)];
  });
}

const keyOf = ([a, b]: Pair): string => `${a} ${b}`;

const areLinksSane = ({ links, hasAllLinks, nodeNames }: Draft): boolean =>
  hasAllLinks && links.every(({ ends }) => ends.every(({ node }) => nodeNames.has(node)));

const isJudged = ({ hasAllNodes }: DraftPlacement, names: readonly string[], { nodeNames }: Draft): boolean =>
  hasAllNodes && new Set(names).size === names.length && names.every((name) => nodeNames.has(name));

/** Pairs of neighbors, including the last node with the first. Two nodes form one pair; one node forms none. */
function ringOf(names: readonly string[]): readonly Pair[] {
  const pairs = names.slice(1).map((name, index): Pair => [names[index] ?? '', name]);
  const [first, last] = [names[0], names.at(-1)];
  return names.length < 3 || first === undefined || last === undefined ? pairs : [...pairs, [last, first]];
}

function finding(
  { name, pointer, isFallback }: DraftPlacement,
  sharding: 'tensor' | 'pipeline',
  missing: readonly Pair[],
): FileFinding {
  const pairs = missing.map(([a, b]) => `${a} and ${b}`);
  const count = pairs.length === 1 ? 'one link is missing' : `${pairs.length} links are missing`;
  const words = {
    pointer: `${pointer}/${isFallback === true ? 'nodes' : 'sharding'}`,
    label: count,
    detail: `No link connects ${pairs.join(', ')}.`,
    subject: placementSubject(name),
  } as const;
  return sharding === 'tensor'
    ? { ...words, code: 'placement/mesh-not-complete' }
    : { ...words, code: 'placement/ring-not-complete' };
}

function nodeTwice(draft: Draft, place: PlaceText): readonly FileFinding[] {
  return draftLayouts(draft.placements).flatMap(({ name, nodes }) =>
    repeats(nodes, ({ text }) => text).map(([node, first]): FileFinding => {
      const [rank, index] = [nodes.indexOf(first), nodes.indexOf(node)];
      const firstPlace = { pointer: first.pointer };
      return {
        code: 'placement/node-twice',
        pointer: node.pointer,
        label: `already rank ${rank}, ${place(firstPlace)}`,
        detail: `${node.text} would be rank ${rank} and rank ${index} of ${name}.`,
        subject: placementSubject(name),
        others: [{ ...firstPlace, detail: 'The first entry for this node.' }],
      };
    }),
  );
}
