import { macModel } from '../../../model/macs/mac-models.ts';
import { nodeSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';
import { acceptsVersion, isAboveRange } from '../../version-range.ts';

/** Warns about a Mac that came with a newer macOS than the file asks for: it cannot go back to an older one. */
export function modelNeedsNewer({ nodes, version, accept }: Draft): readonly Finding[] {
  return nodes.flatMap(({ name, model }) => {
    const mac = model === undefined ? undefined : macModel(model.text);
    if (model === undefined || mac === undefined) return [];
    const isTooOld = version?.isText === true && acceptsVersion(`<${mac.firstMacos}`, version.text) === true;
    const isOutside = accept?.isText === true && isAboveRange(accept.text, mac.firstMacos) === true;
    const wish = isOutside ? accept : isTooOld ? version : undefined;
    if (wish === undefined) return [];
    const finding: Finding = {
      code: 'version/model-needs-newer',
      pointer: wish.pointer,
      at: 'value',
      detail: `${name} is a ${mac.name} (${model.text}), which came with macOS ${mac.firstMacos} and starts with no older one.`,
      subject: nodeSubject(name),
      others: [{ pointer: model.pointer, at: 'value', detail: 'The model is declared here.' }],
    };
    return [finding];
  });
}
