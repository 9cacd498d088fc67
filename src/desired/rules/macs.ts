import { given } from '../../model/given.ts';
import { macModel, macModelIds, macModelsDate } from '../../model/macs.ts';
import { nodeSubject } from '../../model/subject.ts';
import { nameHint, suggesterAmong } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import { acceptsVersion, isAboveRange, rangeProblem } from '../version-range.ts';
import type { FileFinding, FileRule, PlaceText } from './rule.ts';

/** Rules for Mac models and their macOS versions. */
export const macRules: readonly FileRule[] = [unknownModel, versionNotText, badRange, outsideAccept, modelNeedsNewer];

/** Reports unknown models, because their receptacles cannot be checked in the file. */
function unknownModel(draft: Draft): readonly FileFinding[] {
  const suggest = suggesterAmong(macModelIds);
  return draft.nodes.flatMap(({ name, model }) => {
    if (model === undefined || !model.isText || macModel(model.text) !== undefined) return [];
    if (!/^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$/.test(model.text)) return [];
    return {
      code: 'topology/unknown-model',
      pointer: model.pointer,
      detail: `The table of ${macModelsDate} does not list ${model.text}.`,
      subject: nodeSubject(name),
      ...given({ label: nameHint(suggest(model.text)).label }),
    };
  });
}

/** A version must be text: as numbers, 26.10 and 26.1 are the same. */
function versionNotText({ version, accept }: Draft): readonly FileFinding[] {
  return [version, accept].flatMap((one) => {
    if (one === undefined || one.isText) return [];
    return {
      code: 'version/not-text',
      pointer: one.pointer,
      detail: `Without quotes, ${one.text} is the number ${String(Number(one.text))}.`,
      hint: `Put it in quotes: "${one.text}"`,
    };
  });
}

/** The desired version must be an accepted version. */
function outsideAccept({ version, accept }: Draft, place: PlaceText): readonly FileFinding[] {
  if (version === undefined || accept === undefined || !version.isText || !accept.isText) return [];
  if (acceptsVersion(accept.text, version.text) !== false) return [];
  const acceptPlace = { pointer: accept.pointer };
  return [
    {
      code: 'version/outside-accept',
      pointer: version.pointer,
      label: `not in the range of ${place(acceptPlace)}`,
      detail: `macOS ${version.text} is outside \`${accept.text}\`.`,
      others: [{ ...acceptPlace, detail: 'The accepted versions.' }],
    },
  ];
}

/** Warns about a Mac that shipped with a newer macOS than the desired version: it cannot run an older one. */
function modelNeedsNewer({ nodes, version, accept }: Draft): readonly FileFinding[] {
  return nodes.flatMap(({ name, model }) => {
    const mac = model === undefined ? undefined : macModel(model.text);
    if (model === undefined || mac === undefined) return [];
    const isTooOld = version?.isText === true && acceptsVersion(`<${mac.firstMacos}`, version.text) === true;
    const isOutside = accept?.isText === true && isAboveRange(accept.text, mac.firstMacos) === true;
    const setting = isOutside ? accept : isTooOld ? version : undefined;
    if (setting === undefined) return [];
    return {
      code: 'version/model-needs-newer',
      pointer: setting.pointer,
      detail: `${name} is a ${mac.name} (${model.text}), which shipped with macOS ${mac.firstMacos} and cannot start an older version.`,
      subject: nodeSubject(name),
      others: [{ pointer: model.pointer, detail: 'The model is declared here.' }],
    };
  });
}

function badRange({ accept }: Draft): readonly FileFinding[] {
  const problem = accept === undefined || !accept.isText ? undefined : rangeProblem(accept.text);
  if (accept === undefined || problem === undefined) return [];
  return [{ code: 'version/bad-range', pointer: accept.pointer, detail: problem }];
}
