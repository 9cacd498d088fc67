import type { MacModel } from '../../../model/macs/mac-model.ts';
import { avoidReason, macModel } from '../../../model/macs/mac-models.ts';
import { linkSubject } from '../../../model/subject.ts';
import { type Draft, type DraftAvoid, type DraftEnd, draftNodesByName } from '../../draft/draft.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';

/** Warns about links at receptacles that the file or the product's own data wants left free. */
export function avoidedReceptacle(draft: Draft, place: PlaceText): readonly Finding[] {
  const nodes = draftNodesByName(draft);
  const avoided = firstAvoided(draft);
  return draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const declared = nodes.get(end.node)?.model;
      const why = reason(end, avoided, declared === undefined ? undefined : macModel(declared.text), place);
      if (why === undefined) return [];
      const finding: Finding = {
        code: 'topology/avoided-receptacle',
        pointer: link.pointer,
        at: 'value',
        part: { start: end.start, end: end.end },
        detail: why,
        subject: linkSubject(link.ends, link.text),
      };
      return [finding];
    }),
  );
}

/** What the file avoids, the first entry for each receptacle: of every node by number, of one node by name too. */
function firstAvoided({ avoid }: Draft): ReadonlyMap<string, DraftAvoid> {
  const first = new Map<string, DraftAvoid>();
  for (const one of avoid) {
    const key = `${one.node ?? ''}:${one.receptacle}`;
    if (!first.has(key)) first.set(key, one);
  }
  return first;
}

function reason(
  end: DraftEnd,
  avoided: ReadonlyMap<string, DraftAvoid>,
  model: MacModel | undefined,
  place: PlaceText,
): string | undefined {
  const own = avoided.get(`:${end.receptacle}`) ?? avoided.get(`${end.node}:${end.receptacle}`);
  if (own !== undefined) return `The file itself wants it left free (${place({ pointer: own.pointer, at: 'value' })}).`;
  if (model === undefined || !model.avoid.includes(end.receptacle)) return undefined;
  return avoidReason(model.name, end.receptacle);
}
