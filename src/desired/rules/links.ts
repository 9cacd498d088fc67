import type { Ipv4Network } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { ipv4Number } from '../../model/ip-address.ts';
import { groupBy, listText } from '../../model/lists.ts';
import { avoidReason, type MacModel, macModel } from '../../model/macs.ts';
import { linkEndText, nodeName } from '../../model/node.ts';
import { linkSubject, nodeSubject } from '../../model/subject.ts';
import type { Prose } from '../../model/text/prose.ts';
import { firstAddress, isInside, linkText, networkSize, parseIpv4Network } from '../addresses.ts';
import {
  type Draft,
  type DraftAvoid,
  type DraftEnd,
  type DraftLink,
  type DraftText,
  draftNodesByName,
} from '../draft.ts';
import { type FileFinding, type FileRule, type PlaceText, repeats } from './rule.ts';

export const linkRules: readonly FileRule[] = [
  linkToItself,
  duplicateLink,
  receptacleUsedTwice,
  noSuchReceptacle,
  avoidedReceptacle,
  noRdmaModel,
  pool,
];

interface Use {
  readonly link: DraftLink;
  readonly end: DraftEnd;
}

/** A receptacle takes one cable. Identical links are reported by the rule for duplicate links. */
export function receptacleUsedTwice(draft: Draft, place: PlaceText): readonly FileFinding[] {
  const freeAt = freeReceptaclesOf(draft);
  const uses = draft.links.flatMap((link) => link.ends.map((end): Use => ({ link, end })));
  return repeats(uses, ({ end }) => linkEndText(end)).flatMap(([use, first]) =>
    linkKey(first.link) === linkKey(use.link) ? [] : [finding(use, first, freeAt, place)],
  );
}

function finding(use: Use, first: Use, freeAt: FreeReceptacles, place: PlaceText): FileFinding {
  const { node, receptacle } = use.end;
  const firstPlace = placeOf(first);
  return {
    ...placeOf(use),
    code: 'topology/receptacle-used-twice',
    label: `receptacle ${receptacle} of ${node} is already used, ${place(firstPlace)}`,
    detail: 'A receptacle takes only one cable.',
    hint: hintFor(use.end, freeAt(node)),
    subject: linkSubject(use.link.ends, use.link.text),
    others: [{ ...firstPlace, detail: 'The first link at this receptacle.' }],
  };
}

const placeOf = ({ link, end }: Use) => ({ pointer: link.pointer, part: { start: end.start, end: end.end } }) as const;

function hintFor(end: DraftEnd, free: readonly number[] | undefined): string {
  if (free === undefined) return 'Use another receptacle for one of the two links.';
  const next = free[0];
  if (next === undefined) return `${end.node} has no free receptacle. Remove one of the two links.`;
  const noun = free.length === 1 ? 'receptacle' : 'receptacles';
  return `On ${end.node}, ${noun} ${listText(free.map(String))} ${free.length === 1 ? 'is' : 'are'} free. Did you mean ${end.node}:${next}?`;
}

/** A node's free receptacles without those to avoid; undefined if its model is unknown. Cached per node. */
type FreeReceptacles = (node: string) => readonly number[] | undefined;

function freeReceptaclesOf(draft: Draft): FreeReceptacles {
  const nodes = draftNodesByName(draft);
  const all: readonly Omit<DraftAvoid, 'pointer'>[] = [...draft.links.flatMap(({ ends }) => ends), ...draft.avoid];
  // Without a node, a receptacle is to be avoided on every node.
  const takenByNode = groupBy(all, ({ node = '' }) => node);
  const found = new Map<string, readonly number[] | undefined>();
  const freeOn = (node: string): readonly number[] | undefined => {
    const declared = nodes.get(nodeName(node))?.model;
    const model = declared === undefined ? undefined : macModel(declared.text);
    if (model === undefined) return undefined;
    const used = ['', node].flatMap((name) => takenByNode.get(name) ?? []);
    const taken = new Set([...model.avoid, ...used.map(({ receptacle }) => receptacle)]);
    return Array.from({ length: model.receptacles }, (_, index) => index + 1).filter((number) => !taken.has(number));
  };
  return (node) => {
    if (!found.has(node)) found.set(node, freeOn(node));
    return found.get(node);
  };
}

const addressesPerLink = networkSize(30);

const privateNetworks: readonly Ipv4Network[] = [
  { address: '10.0.0.0', prefixLength: 8 },
  { address: '172.16.0.0', prefixLength: 12 },
  { address: '192.168.0.0', prefixLength: 16 },
];

/** Networks without ordinary host addresses. */
const unusable: readonly (Ipv4Network & { readonly name: string })[] = [
  { address: '0.0.0.0', prefixLength: 8, name: '"this network"' },
  { address: '127.0.0.0', prefixLength: 8, name: 'the loopback network' },
  { address: '169.254.0.0', prefixLength: 16, name: 'the network of self-assigned addresses' },
  { address: '224.0.0.0', prefixLength: 3, name: 'a multicast or reserved network' },
];

/** The pool must be a usable private network with a /30 for every link, and contain no node's address. */
function pool(draft: Draft): readonly FileFinding[] {
  const text = draft.pool;
  if (text === undefined || !text.isText || !/^[0-9.]+\/[0-9]+$/.test(text.text)) return [];
  const network = parseIpv4Network(text.text);
  if (network === undefined)
    return [notANetwork(text, 'It must be four numbers from 0 to 255 and a prefix length up to 32.')];
  const first = firstAddress(network);
  if (first !== network.address) {
    const right = `${first}/${network.prefixLength}`;
    return [notANetwork(text, `${network.address} is an address inside ${right}.`, `Write ${right}.`)];
  }
  const overlap = unusable.find((one) => isInside(network, one) || isInside(one, network));
  if (overlap !== undefined)
    return [notANetwork(text, `It overlaps ${overlap.address}/${overlap.prefixLength}, ${overlap.name}.`)];
  return [...tooSmall(draft, text, network), ...notPrivate(text, network), ...hasHosts(draft, text, network)];
}

const here = (text: DraftText) => ({ pointer: text.pointer }) as const;

function notANetwork(text: DraftText, detail: string, hint?: Prose): FileFinding {
  return { ...here(text), code: 'topology/pool-not-a-network', detail, ...given({ hint }) };
}

function tooSmall(draft: Draft, text: DraftText, network: Ipv4Network): readonly FileFinding[] {
  const has = Math.floor(networkSize(network.prefixLength) / addressesPerLink);
  const needs = draft.links.length;
  if (needs <= has) return [];
  const prefix = 30 - Math.ceil(Math.log2(needs));
  const wide = { address: network.address, prefixLength: prefix };
  const detail = `${needs} links need ${needs * addressesPerLink} addresses; a /${network.prefixLength} has room for ${has === 1 ? 'one link' : `${has} links`}.`;
  const hint = `A /${prefix} is large enough, such as ${firstAddress(wide)}/${prefix}.`;
  return [{ ...here(text), code: 'topology/pool-too-small', detail, hint }];
}

function notPrivate(text: DraftText, network: Ipv4Network): readonly FileFinding[] {
  if (privateNetworks.some((one) => isInside(network, one))) return [];
  return [{ ...here(text), code: 'topology/pool-not-private', detail: `${text.text} is at least partly public.` }];
}

/** Compares only hosts that are written as addresses. Host names are not resolved. */
function hasHosts({ nodes }: Draft, text: DraftText, network: Ipv4Network): readonly FileFinding[] {
  const inside = nodes.flatMap(({ name, host }) =>
    host !== undefined &&
    ipv4Number(host.text) !== undefined &&
    isInside({ address: host.text, prefixLength: 32 }, network)
      ? [{ name, host }]
      : [],
  );
  const [first] = inside;
  if (first === undefined) return [];
  const others = inside.map(({ name, host }) => ({ ...here(host), detail: `${name} is reached at ${host.text}.` }));
  const detail = `${first.name} is reached at ${first.host.text}, which is inside ${text.text}.`;
  return [{ ...here(text), code: 'topology/pool-has-host', detail, others }];
}

/** Receptacles in links and `avoid` must exist on the declared model. Unknown models are skipped. */
function noSuchReceptacle(draft: Draft): readonly FileFinding[] {
  const nodes = draftNodesByName(draft);
  const named = [
    ...draft.links.flatMap((link) => link.ends.map((end) => ({ ...end, pointer: link.pointer }))),
    ...draft.avoid.flatMap((one) => {
      if (one.node === undefined) return [];
      const length = `${one.node}:${one.receptacle}`.length;
      return [{ node: one.node, receptacle: one.receptacle, pointer: one.pointer, start: 0, end: length }];
    }),
  ];
  return named.flatMap(({ node, receptacle, pointer, start, end }) => {
    const declared = nodes.get(node)?.model;
    const model = declared === undefined ? undefined : macModel(declared.text);
    if (model === undefined || declared === undefined || receptacle <= model.receptacles) return [];
    const numbers = Array.from({ length: model.receptacles }, (_, index) => String(index + 1));
    return {
      code: 'topology/no-such-receptacle',
      pointer,
      part: { start, end },
      label: `${node} has ${model.receptacles}`,
      detail: `${node} is a ${model.name} (${declared.text}) with receptacles ${listText(numbers)}.`,
      subject: nodeSubject(node),
      others: [{ pointer: declared.pointer, detail: 'The model is declared here.' }],
    };
  });
}

/** Reports linked Macs with Thunderbolt 4, which do not support RDMA. A separate rule covers RDMA placements. */
function noRdmaModel(draft: Draft): readonly FileFinding[] {
  const linked = new Set<string>(draft.links.flatMap((link) => link.ends.map((end) => end.node)));
  return [...draftNodesByName(draft)].flatMap(([name, node]) => {
    const model = node.model === undefined ? undefined : macModel(node.model.text);
    if (node.model === undefined || model === undefined || model.thunderbolt === 5 || !linked.has(name)) return [];
    return {
      code: 'topology/no-rdma',
      pointer: node.model.pointer,
      detail: `A ${model.name} has Thunderbolt ${model.thunderbolt} and does not support RDMA. Its links carry only TCP.`,
      subject: nodeSubject(name),
    };
  });
}

function linkToItself(draft: Draft): readonly FileFinding[] {
  return draft.links.flatMap((link) => {
    const [from, to] = link.ends;
    if (from.node !== to.node) return [];
    return {
      code: 'topology/link-to-itself' as const,
      pointer: link.pointer,
      part: { start: to.start, end: to.end },
      label: `the other end is also on ${from.node}`,
      detail: `Both ends of this link are on ${from.node}.`,
      subject: linkSubject(link.ends, link.text),
    };
  });
}

/** A key that is the same for both directions of a link. */
const linkKey = (link: DraftLink): string => linkText(link.ends);

function duplicateLink({ links }: Draft, place: PlaceText): readonly FileFinding[] {
  return repeats(links, linkKey).map(([link, other]) => {
    const otherPlace = { pointer: other.pointer };
    return {
      code: 'topology/duplicate-link',
      pointer: link.pointer,
      label: `same cable as ${place(otherPlace)}`,
      detail: 'Both lines name the same two receptacles; the order of the ends does not matter.',
      hint: 'Remove one of the two lines.',
      subject: linkSubject(link.ends, link.text),
      others: [{ ...otherPlace, detail: 'The first link with these ends.' }],
    };
  });
}

/** Warns about links at receptacles that should be avoided according to the file or the table of Macs. */
function avoidedReceptacle(draft: Draft, place: PlaceText): readonly FileFinding[] {
  const nodes = draftNodesByName(draft);
  const avoided = firstAvoided(draft);
  return draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const declared = nodes.get(end.node)?.model;
      const why = reason(end, avoided, declared === undefined ? undefined : macModel(declared.text), place);
      if (why === undefined) return [];
      return {
        code: 'topology/avoided-receptacle',
        pointer: link.pointer,
        part: { start: end.start, end: end.end },
        detail: why,
        subject: linkSubject(link.ends, link.text),
      };
    }),
  );
}

/** Finds the first `avoid` entry of each receptacle. Keys are `:2` for every node and `studio-1:2` for one node. */
const firstAvoided = ({ avoid }: Draft): ReadonlyMap<string, DraftAvoid> =>
  new Map(avoid.toReversed().map((one) => [`${one.node ?? ''}:${one.receptacle}`, one]));

function reason(
  end: DraftEnd,
  avoided: ReadonlyMap<string, DraftAvoid>,
  model: MacModel | undefined,
  place: PlaceText,
): string | undefined {
  const own = avoided.get(`:${end.receptacle}`) ?? avoided.get(`${end.node}:${end.receptacle}`);
  if (own !== undefined)
    return `The file lists this receptacle under \`thunderbolt.avoid\` (${place({ pointer: own.pointer })}).`;
  if (model === undefined || !model.avoid.includes(end.receptacle)) return undefined;
  return avoidReason(model.name, end.receptacle);
}
