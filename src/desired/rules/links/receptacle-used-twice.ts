import { linkEndText } from '../../../model/link.ts';
import { macModel } from '../../../model/macs/mac-models.ts';
import { nodeName } from '../../../model/node.ts';
import { linkSubject } from '../../../model/subject.ts';
import { listText } from '../../did-you-mean.ts';
import { type Draft, type DraftEnd, type DraftLink, draftNodesByName } from '../../draft/draft.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';
import { linkKey } from './duplicate-link.ts';

interface Use {
  readonly link: DraftLink;
  readonly end: DraftEnd;
}

/** One receptacle holds one cable. Whole duplicates are told by the rule about duplicate links. */
export function receptacleUsedTwice(draft: Draft, place: PlaceText): readonly Finding[] {
  const firstUse = new Map<string, Use>();
  const findings: Finding[] = [];
  const freeAt = freeReceptaclesOf(draft);
  for (const link of draft.links) {
    for (const end of link.ends) {
      const name = linkEndText(end);
      const first = firstUse.get(name);
      if (first === undefined) firstUse.set(name, { link, end });
      else if (first.link !== link && linkKey(first.link) !== linkKey(link)) {
        findings.push(finding({ link, end }, first, freeAt, place));
      }
    }
  }
  return findings;
}

function finding(use: Use, first: Use, freeAt: FreeReceptacles, place: PlaceText): Finding {
  const { node, receptacle } = use.end;
  const firstPlace = placeOf(first);
  return {
    ...placeOf(use),
    code: 'topology/receptacle-used-twice',
    label: `receptacle ${receptacle} of ${node} already carries ${place(firstPlace)}`,
    detail: 'One receptacle holds one cable.',
    hint: hintFor(use.end, freeAt(node)),
    subject: linkSubject(use.link.ends, use.link.text),
    others: [{ ...firstPlace, detail: 'The first link at this receptacle.' }],
  };
}

const placeOf = ({ link, end }: Use) =>
  ({ pointer: link.pointer, at: 'value', part: { start: end.start, end: end.end } }) as const;

function hintFor(end: DraftEnd, free: readonly number[] | undefined): string {
  if (free === undefined) return 'Give one of the two links another receptacle.';
  const next = free[0];
  if (next === undefined) return `${end.node} has no free receptacle left; remove one of the two links.`;
  const noun = free.length === 1 ? 'receptacle' : 'receptacles';
  return `${end.node} has ${noun} ${listText(free.map(String))} free; did you mean ${end.node}:${next}?`;
}

/**
 * Receptacles of a node without a link and without a reason to avoid them; undefined when the model is not known. Each
 * node is looked at once, however often it is asked about, and the links only once for all.
 */
type FreeReceptacles = (node: string) => readonly number[] | undefined;

function freeReceptaclesOf(draft: Draft): FreeReceptacles {
  const nodes = draftNodesByName(draft);
  const takenByNode = new Map<string, Set<number>>();
  const take = (node: string, receptacle: number): void => {
    const taken = takenByNode.get(node) ?? new Set<number>();
    takenByNode.set(node, taken.add(receptacle));
  };
  for (const link of draft.links) for (const { node, receptacle } of link.ends) take(node, receptacle);
  const everywhere: number[] = [];
  for (const { node, receptacle } of draft.avoid) {
    if (node === undefined) everywhere.push(receptacle);
    else take(node, receptacle);
  }
  const found = new Map<string, readonly number[] | undefined>();
  const look = (node: string): readonly number[] | undefined => {
    const declared = nodes.get(nodeName(node))?.model;
    const model = declared === undefined ? undefined : macModel(declared.text);
    if (model === undefined) return undefined;
    const taken = new Set([...model.avoid, ...everywhere, ...(takenByNode.get(node) ?? [])]);
    return Array.from({ length: model.receptacles }, (_, index) => index + 1).filter((number) => !taken.has(number));
  };
  return (node) => {
    if (!found.has(node)) found.set(node, look(node));
    return found.get(node);
  };
}
