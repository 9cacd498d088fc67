import type { DiagnosticCode } from '../../diagnostics/diagnose.ts';
import { placementSubject, runtimeSubject } from '../../model/subject.ts';
import { type Draft, type DraftPlacement, draftLayouts } from '../draft.ts';
import { innerPorts, rankPorts, rankSlot } from '../endpoints.ts';
import { doormanTree } from '../resolve.ts';
import type { Finding, FindingPlace, PlaceText, Rule } from './rule.ts';

/** Endpoints, their keys, and the ports that they and the ranks take. */
export const endpointRules: readonly Rule[] = [
  endpointTaken,
  endpointOfRanks,
  innerPort,
  publishedEndpoint,
  keyTwice,
  secretProgram,
  sameSlot,
];

/** A source of a secret that is a program has to name one. */
function secretProgram({ secretPrograms }: Draft): readonly Finding[] {
  return secretPrograms
    .filter(({ text }) => text.trim() === '')
    .map(
      ({ pointer }): Finding => ({
        code: 'secret/no-program',
        pointer,
        detail: 'The first word of this command is empty, and it is the one that names the program.',
      }),
    );
}

/** Each source of a list of keys is named once: whoever takes one away wants its key to open nothing any more. */
function keyTwice({ placements }: Draft): readonly Finding[] {
  return placements.flatMap(({ name, pointer, keySources }) =>
    keySources.flatMap((source, at): readonly Finding[] => {
      const first = keySources.indexOf(source);
      if (first === at) return [];
      return [
        {
          code: 'placement/key-twice',
          pointer: `${pointer}/endpoint/apiKey/${at}`,
          detail: `Source ${at + 1} of the list is source ${first + 1} once more.`,
          subject: placementSubject(name),
        },
      ];
    }),
  );
}

/**
 * No endpoint has a port on which runtimes answer behind a doorman. Not only on leaders that have one: which of these
 * ports is taken follows from the names of placements, and a file that publishes nothing today may do so tomorrow.
 */
function innerPort({ placements }: Draft): readonly Finding[] {
  return placements.flatMap(({ name, endpointPort, endpointPointer }): readonly Finding[] => {
    const { first, last } = innerPorts;
    if (endpointPort === undefined || endpointPort < first || endpointPort > last) return [];
    return [
      {
        code: 'placement/inner-port',
        pointer: endpointPointer,
        label: `${first} to ${last} are for runtimes behind a doorman`,
        detail: `Port ${endpointPort} may be that of a placement whose leader is ${name}'s, too.`,
        subject: placementSubject(name),
      },
    ];
  });
}

/** Placements that share a node have different ports for their endpoints, stopped ones too: they may be started. */
function endpointTaken({ placements }: Draft, place: PlaceText): readonly Finding[] {
  const told = new Set<string>();
  return draftLayouts(placements).flatMap((placement, index, all) => {
    const { name, endpointPort } = placement;
    if (endpointPort === undefined) return [];
    const other = all
      .slice(0, index)
      .find(
        (one) =>
          one.name !== name &&
          !told.has(pairKey(one, placement)) &&
          one.endpointPort === endpointPort &&
          sharedNode(one, placement) !== undefined &&
          !isSameDoor(one, placement),
      );
    if (other === undefined) return [];
    told.add(pairKey(other, placement));
    const otherPlace = placeOf(other);
    return {
      ...placeOf(placement),
      code: 'placement/endpoint-taken',
      label: `${other.name} has port ${endpointPort} already, ${place(otherPlace)}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}.`,
      subject: placementSubject(name),
      others: [{ ...otherPlace, detail: `The port of ${other.name}.` }],
    };
  });
}

/** The port itself, or the name of a placement that leaves it to the default. */
const placeOf = ({ pointer, endpointPointer }: DraftPlacement): FindingPlace => ({
  pointer: endpointPointer,
  at: pointer === endpointPointer ? 'key' : 'value',
});

/** Keys of an endpoint that only a doorman reads. */
const doormanKeys = ['servedName', 'apiKey', 'access', 'proxies'] as const;

/** A published endpoint has a doorman and a key, or says that it wants none; nothing is said to a doorman that is not there. */
function publishedEndpoint(draft: Draft): readonly Finding[] {
  return [
    ...draft.placements.flatMap((one) => (one.isPublished ? published(one, draft) : notPublished(one))),
    ...draftLayouts(draft.placements).flatMap((one) => (one.isFallback === true ? sameNameThere(one, draft) : [])),
    ...draft.runtimes
      .filter(({ name }) => name === doormanTree)
      .map(
        ({ name, pointer }): Finding => ({
          code: 'runtime/reserved-name',
          pointer,
          at: 'key',
          detail: `Under the name ${name} lies the doorman itself.`,
          subject: runtimeSubject(name),
        }),
      ),
  ];
}

function notPublished(placement: DraftPlacement): readonly Finding[] {
  const key = doormanKeys.find((one) => placement.endpointKeys.includes(one));
  if (key === undefined) return [];
  const detail = `Without \`listen: lan\` nobody reads \`${key}\`: the runtime answers its own node alone.`;
  return [at(placement, key, { code: 'placement/endpoint-not-published', detail })];
}

function published(placement: DraftPlacement, draft: Draft): readonly Finding[] {
  const { isOpenToAnybody: isOpen, endpointKeys } = placement;
  const hasKey = endpointKeys.includes('apiKey');
  if (!draft.hasDoorman) {
    const detail = 'With `listen: lan` a doorman stands before the runtime, and the file has none.';
    return [at(placement, 'listen', { code: 'placement/doorman-missing', detail })];
  }
  if (hasKey === isOpen) {
    const detail = isOpen
      ? 'It asks for a key, and says that anybody may come in.'
      : 'Nothing says which key opens it, nor that anybody may come in.';
    return [at(placement, isOpen ? 'apiKey' : 'listen', { code: 'placement/endpoint-unguarded', detail })];
  }
  return sameName(placement, draft);
}

const nameOf = ({ servedName, name }: DraftPlacement): string => servedName ?? name;

/** The same on the leader of a fallback, where a doorman stands, too. */
function sameNameThere(placement: DraftPlacement, { placements }: Draft): readonly Finding[] {
  const all = draftLayouts(placements);
  const other = all
    .slice(
      0,
      all.findIndex(({ pointer }) => pointer === placement.pointer),
    )
    .find((one) => one.name !== placement.name && isSameDoor(one, placement) && nameOf(one) === nameOf(placement));
  const isToldAlready = placements.some(
    (one) => one.name === placement.name && other !== undefined && isSameDoor(one, other),
  );
  if (other === undefined || isToldAlready) return [];
  const { pointer } = placement;
  const detail = `There ${other.name} is served as ${nameOf(other)} at the same port already.`;
  const subject = placementSubject(placement.name);
  return [{ code: 'placement/served-name-taken', pointer, at: 'key', detail, subject }];
}

/** Placements behind one doorman are told apart by their names alone. */
function sameName(placement: DraftPlacement, { placements }: Draft): readonly Finding[] {
  const other = placements
    .slice(0, placements.indexOf(placement))
    .find((one) => isSameDoor(one, placement) && nameOf(one) === nameOf(placement));
  if (other === undefined) return [];
  const key = placement.servedName === undefined ? 'listen' : 'servedName';
  const detail = `${other.name} is served as ${nameOf(other)} at the same port already.`;
  return [at(placement, key, { code: 'placement/served-name-taken', detail })];
}

/** Whether both are published at one port of one leader: then one doorman stands before them. */
const isSameDoor = (a: DraftPlacement, b: DraftPlacement): boolean =>
  a.isPublished &&
  b.isPublished &&
  a.endpointPort === b.endpointPort &&
  a.nodes[0] !== undefined &&
  a.nodes[0].text === b.nodes[0]?.text;

const at = (
  { name, pointer }: DraftPlacement,
  key: string,
  { code, detail }: { readonly code: DiagnosticCode; readonly detail: string },
): Finding => ({ code, pointer: `${pointer}/endpoint/${key}`, at: 'key', detail, subject: placementSubject(name) });

/** No endpoint has a port on which the ranks of a placement meet on one of its nodes, its own ranks included. */
function endpointOfRanks({ placements }: Draft): readonly Finding[] {
  return placements.flatMap((placement) => {
    const { name, endpointPort, endpointPointer } = placement;
    if (endpointPort === undefined) return [];
    const mine = draftLayouts([placement]);
    const other = draftLayouts(placements).find((one) => {
      const { first, last } = rankPorts(one.name);
      const isAmong = endpointPort >= first && endpointPort <= last;
      return isAmong && mine.some((layout) => sharedNode(layout, one) !== undefined);
    });
    if (other === undefined) return [];
    const { first, last } = rankPorts(other.name);
    const whose = other.name === name ? 'Its own ranks' : `The ranks of ${other.name}`;
    return {
      code: 'placement/endpoint-of-ranks',
      pointer: endpointPointer,
      label: `${first} to ${last} are for the ranks of ${other.name}`,
      detail: `${whose} meet on ports ${first} to ${last} of these nodes.`,
      subject: placementSubject(name),
    };
  });
}

/** Placements that share a node have ports of their own for their ranks, in every generation. */
function sameSlot({ placements }: Draft): readonly Finding[] {
  const told = new Set<string>();
  return draftLayouts(placements).flatMap((placement, index, all) => {
    const slot = rankSlot(placement.name);
    const other = all
      .slice(0, index)
      .find(
        (one) =>
          one.name !== placement.name &&
          rankSlot(one.name) === slot &&
          sharedNode(one, placement) !== undefined &&
          !told.has(pairKey(one, placement)),
      );
    if (other === undefined) return [];
    told.add(pairKey(other, placement));
    const { first, last } = rankPorts(placement.name);
    return {
      code: 'placement/same-slot',
      pointer: placement.pointer,
      at: 'key',
      label: `same ports as ${other.name}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}, and their ranks meet on ports ${first} to ${last}.`,
      subject: placementSubject(placement.name),
      others: [{ pointer: other.pointer, at: 'key', detail: 'The other placement.' }],
    };
  });
}

/** The first node that two placements have in common; undefined when there is none. */
function sharedNode(a: DraftPlacement, b: DraftPlacement): string | undefined {
  const names = new Set(b.nodes.map(({ text }) => text));
  return a.nodes.find(({ text }) => names.has(text))?.text;
}

/** One text for two placements, whichever comes first: what is wrong between them is told once. */
const pairKey = (a: Pick<DraftPlacement, 'name'>, b: Pick<DraftPlacement, 'name'>): string =>
  [a.name, b.name].toSorted().join(' ');
