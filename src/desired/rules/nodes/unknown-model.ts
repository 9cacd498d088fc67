import { macModel, macModelIds, macModelsDate } from '../../../model/macs/mac-models.ts';
import { nodeSubject } from '../../../model/subject.ts';
import { suggesterAmong } from '../../did-you-mean.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** Says which models are not known here, since nothing about their receptacles can be checked in the file. */
export function unknownModel(draft: Draft): readonly Finding[] {
  const suggest = suggesterAmong(macModelIds);
  return draft.nodes.flatMap(({ name, model }) => {
    if (model === undefined || !model.isText || macModel(model.text) !== undefined) return [];
    if (!/^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$/.test(model.text)) return [];
    const near = suggest(model.text);
    const finding: Finding = {
      code: 'topology/unknown-model',
      pointer: model.pointer,
      at: 'value',
      detail: `The table of ${macModelsDate} has no ${model.text}.`,
      subject: nodeSubject(name),
      ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
    };
    return [finding];
  });
}
