import type { GeneralCode } from '../../diagnostics/diagnose.ts';
import { placementSubject, runtimeSubject } from '../../model/subject.ts';
import { type Draft, type DraftPlacement, draftLayouts } from '../draft.ts';
import { innerPorts, rankPorts, rankSlot } from '../endpoints.ts';
import { gatewayTree } from '../resolve.ts';
import type { FileFinding, FileRule, FindingPlace, PlaceText } from './rule.ts';

export const endpointRules: readonly FileRule[] = [
  endpointTaken,
  endpointOfRanks,
  innerPort,
  publishedEndpoint,
  keyTwice,
  secretProgram,
  sameSlot,
];

function secretProgram({ secretPrograms }: Draft): readonly FileFinding[] {
  return secretPrograms
    .filter(({ text }) => text.trim() === '')
    .map(
      ({ pointer }): FileFinding => ({
        code: 'secret/no-program',
        pointer,
        detail: 'The first word of this command must name the program, but it is empty.',
      }),
    );
}

/** API key sources must be distinct. Otherwise, a key is still accepted after a person removes one of its lines. */
function keyTwice({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, pointer, keySources }) =>
    keySources.flatMap((source, at): readonly FileFinding[] => {
      const first = keySources.indexOf(source);
      if (first === at) return [];
      return [
        {
          code: 'placement/key-twice',
          pointer: `${pointer}/endpoint/apiKey/${at}`,
          detail: `Source ${at + 1} of the list is the same as source ${first + 1}.`,
          subject: placementSubject(name),
        },
      ];
    }),
  );
}

/**
 * No endpoint may use a port of runtimes behind a gateway. This also applies to leaders without a gateway, because
 * these ports depend only on placement names and the file may publish a placement later.
 */
function innerPort({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, endpointPort, endpointPointer }): readonly FileFinding[] => {
    const { first, last } = innerPorts;
    if (endpointPort === undefined || endpointPort < first || endpointPort > last) return [];
    return [
      {
        code: 'placement/inner-port',
        pointer: endpointPointer,
        label: `${first} to ${last} are for runtimes behind a gateway`,
        detail: `Port ${endpointPort} may belong to another placement with the same leader as ${name}.`,
        subject: placementSubject(name),
      },
    ];
  });
}

/** Placements that share a node need different endpoint ports, even if they are stopped: they may be started later. */
function endpointTaken({ placements }: Draft, place: PlaceText): readonly FileFinding[] {
  const isTaken = (one: DraftPlacement, { endpointPort }: DraftPlacement): boolean =>
    endpointPort !== undefined && one.endpointPort === endpointPort;
  const taken = clashes(placements, (one, other) => isTaken(one, other) && !isSameGateway(one, other));
  return taken.map(({ placement, other }) => {
    const { name, endpointPort } = placement;
    const otherPlace = placeOf(other);
    return {
      ...placeOf(placement),
      code: 'placement/endpoint-taken',
      label: `${other.name} already has port ${endpointPort}, ${place(otherPlace)}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}.`,
      subject: placementSubject(name),
      others: [{ ...otherPlace, detail: `The port of ${other.name}.` }],
    };
  });
}

/** The place of the port, or of the placement's name if the port is the default. */
const placeOf = ({ pointer, endpointPointer }: DraftPlacement): FindingPlace => ({
  pointer: endpointPointer,
  at: pointer === endpointPointer ? 'key' : 'value',
});

/** Endpoint keys that only the gateway uses. */
const gatewayKeys = ['servedName', 'apiKey', 'access', 'proxies'] as const;

/** A published endpoint needs a gateway, and either API keys or open access. Other endpoints have no gateway keys. */
function publishedEndpoint(draft: Draft): readonly FileFinding[] {
  return [
    ...draft.placements.flatMap((one) => (one.isPublished ? published(one, draft) : notPublished(one))),
    ...draftLayouts(draft.placements).flatMap((one) => (one.isFallback === true ? sameNameThere(one, draft) : [])),
    ...draft.runtimes
      .filter(({ name }) => name === gatewayTree)
      .map(
        ({ name, pointer }): FileFinding => ({
          code: 'runtime/reserved-name',
          pointer,
          at: 'key',
          detail: `The gateway itself uses the name ${name}.`,
          subject: runtimeSubject(name),
        }),
      ),
  ];
}

function notPublished(placement: DraftPlacement): readonly FileFinding[] {
  const key = gatewayKeys.find((one) => placement.endpointKeys.includes(one));
  if (key === undefined) return [];
  const detail = `Without \`listen: lan\`, \`${key}\` has no effect: the runtime serves only its own node.`;
  return [at(placement, key, { code: 'placement/endpoint-not-published', detail })];
}

function published(placement: DraftPlacement, draft: Draft): readonly FileFinding[] {
  const { isOpenToAnybody: isOpen, endpointKeys } = placement;
  const hasKey = endpointKeys.includes('apiKey');
  if (hasKey === isOpen) {
    const detail = isOpen
      ? 'It has both `apiKey` and `access: anybody`.'
      : 'It has neither `apiKey` nor `access: anybody`.';
    return [at(placement, isOpen ? 'apiKey' : 'listen', { code: 'placement/endpoint-unguarded', detail })];
  }
  return sameName(placement, draft);
}

const nameOf = ({ servedName, name }: DraftPlacement): string => servedName ?? name;

/** Applies the rule for served names to the leader of a fallback, which also has a gateway. */
function sameNameThere(placement: DraftPlacement, { placements }: Draft): readonly FileFinding[] {
  const all = draftLayouts(placements);
  const other = all
    .slice(
      0,
      all.findIndex(({ pointer }) => pointer === placement.pointer),
    )
    .find((one) => one.name !== placement.name && isSameGateway(one, placement) && nameOf(one) === nameOf(placement));
  const isReportedAlready = placements.some(
    (one) => one.name === placement.name && other !== undefined && isSameGateway(one, other),
  );
  if (other === undefined || isReportedAlready) return [];
  const { pointer } = placement;
  const detail = `On the fallback, ${other.name} is already served as ${nameOf(other)} at the same port.`;
  const subject = placementSubject(placement.name);
  return [{ code: 'placement/served-name-taken', pointer, at: 'key', detail, subject }];
}

/** The gateway distinguishes placements only by their served names. */
function sameName(placement: DraftPlacement, { placements }: Draft): readonly FileFinding[] {
  const other = placements
    .slice(0, placements.indexOf(placement))
    .find((one) => isSameGateway(one, placement) && nameOf(one) === nameOf(placement));
  if (other === undefined) return [];
  const key = placement.servedName === undefined ? 'listen' : 'servedName';
  const detail = `${other.name} is already served as ${nameOf(other)} at the same port.`;
  return [at(placement, key, { code: 'placement/served-name-taken', detail })];
}

/** True if both are published at the same port of the same leader, and so share a gateway. */
const isSameGateway = (a: DraftPlacement, b: DraftPlacement): boolean =>
  a.isPublished &&
  b.isPublished &&
  a.endpointPort === b.endpointPort &&
  a.nodes[0] !== undefined &&
  a.nodes[0].text === b.nodes[0]?.text;

const at = (
  { name, pointer }: DraftPlacement,
  key: string,
  { code, detail }: { readonly code: GeneralCode; readonly detail: string },
): FileFinding => ({ code, pointer: `${pointer}/endpoint/${key}`, at: 'key', detail, subject: placementSubject(name) });

/** No endpoint may use a port of ranks on its nodes, including its own ranks. */
function endpointOfRanks({ placements }: Draft): readonly FileFinding[] {
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
      detail: `${whose} use ports ${first} to ${last} on these nodes.`,
      subject: placementSubject(name),
    };
  });
}

/** Placements that share a node need different rank ports in every generation. */
function sameSlot({ placements }: Draft): readonly FileFinding[] {
  const same = clashes(placements, (one, other) => rankSlot(one.name) === rankSlot(other.name));
  return same.map(({ placement, other }) => {
    const { first, last } = rankPorts(placement.name);
    return {
      code: 'placement/same-slot',
      pointer: placement.pointer,
      at: 'key',
      label: `same ports as ${other.name}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}, and their ranks use ports ${first} to ${last}.`,
      subject: placementSubject(placement.name),
      others: [{ pointer: other.pointer, at: 'key', detail: 'The other placement.' }],
    };
  });
}

function sharedNode(a: DraftPlacement, b: DraftPlacement): string | undefined {
  const names = new Set(b.nodes.map(({ text }) => text));
  return a.nodes.find(({ text }) => names.has(text))?.text;
}

/** Lists layouts that share a node and clash with an earlier layout of another placement; each pair only once. */
function clashes(
  placements: readonly DraftPlacement[],
  isClash: (one: DraftPlacement, other: DraftPlacement) => boolean,
): readonly { readonly placement: DraftPlacement; readonly other: DraftPlacement }[] {
  const found = new Set<string>();
  const keyOf = (...pair: readonly DraftPlacement[]): string =>
    pair
      .map(({ name }) => name)
      .toSorted()
      .join(' ');
  return draftLayouts(placements).flatMap((placement, index, all) => {
    const isNew = (one: DraftPlacement): boolean => one.name !== placement.name && !found.has(keyOf(one, placement));
    const other = all
      .slice(0, index)
      .find((one) => isNew(one) && sharedNode(one, placement) !== undefined && isClash(one, placement));
    if (other === undefined) return [];
    found.add(keyOf(other, placement));
    return [{ placement, other }];
  });
}
