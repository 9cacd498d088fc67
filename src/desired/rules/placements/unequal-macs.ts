import { placementSubject } from '../../../model/subject.ts';
import { type Draft, draftNodesByName } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';
import { paceOf } from '../../fit/pace.ts';

/** Which Macs set the pace of a placement whose declared models are unequal. */
export function unequalMacs(draft: Draft): readonly Finding[] {
  const byName = draftNodesByName(draft);
  return draftLayouts(draft.placements).flatMap(({ name, nodes, pointer, isFallback }) => {
    const macs = nodes.flatMap(({ text }) => {
      const model = byName.get(text)?.model?.text;
      return model === undefined ? [] : [{ name: text, model }];
    });
    const pace = macs.length < nodes.length ? undefined : paceOf(macs);
    if (pace === undefined) return [];
    const slow = nodes.find(({ text }) => pace.slowest.includes(text));
    const finding: Finding = {
      code: 'placement/unequal-macs',
      pointer: slow?.pointer ?? pointer,
      at: 'value',
      detail: isFallback === true ? `On its fallback: ${pace.detail}` : pace.detail,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
