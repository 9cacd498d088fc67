import type { DiagnosticCode } from '../../../diagnostics/codes.ts';
import { placementSubject, runtimeSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { type DraftPlacement, draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';
import { doormanTree } from '../../resolve-placements.ts';

/** Keys of an endpoint that only a doorman reads. */
const doormanKeys = ['servedName', 'apiKey', 'access', 'proxies'] as const;

/** A published endpoint has a doorman and a key, or says that it wants none; nothing is said to a doorman that is not there. */
export function publishedEndpoint(draft: Draft): readonly Finding[] {
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
export const isSameDoor = (a: DraftPlacement, b: DraftPlacement): boolean =>
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
