import { given } from '../../model/given.ts';
import { macModel, macModelIds, macModelsDate } from '../../model/macs.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meant, suggesterAmong } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import { acceptsVersion, isAboveRange, rangeProblem } from '../version-range.ts';
import type { Finding, PlaceText, Rule } from './rule.ts';

/** Models of Macs, and the versions of macOS that they get. */
export const macRules: readonly Rule[] = [unknownModel, versionNotText, badRange, outsideAccept, modelNeedsNewer];

/** Says which models are not known here, since nothing about their receptacles can be checked in the file. */
function unknownModel(draft: Draft): readonly Finding[] {
  const suggest = suggesterAmong(macModelIds);
  return draft.nodes.flatMap(({ name, model }) => {
    if (model === undefined || !model.isText || macModel(model.text) !== undefined) return [];
    if (!/^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$/.test(model.text)) return [];
    return {
      code: 'topology/unknown-model',
      pointer: model.pointer,
      detail: `The table of ${macModelsDate} has no ${model.text}.`,
      subject: nodeSubject(name),
      ...given({ label: meant(suggest(model.text)).label }),
    };
  });
}

/** A version is text: as a number, 26.10 and 26.1 are the same. */
function versionNotText({ version, accept }: Draft): readonly Finding[] {
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

/** The version that is wished for is itself an accepted one. */
function outsideAccept({ version, accept }: Draft, place: PlaceText): readonly Finding[] {
  if (version === undefined || accept === undefined || !version.isText || !accept.isText) return [];
  if (acceptsVersion(accept.text, version.text) !== false) return [];
  const acceptPlace = { pointer: accept.pointer };
  return [
    {
      code: 'version/outside-accept',
      pointer: version.pointer,
      label: `not in the range of ${place(acceptPlace)}`,
      detail: `macOS ${version.text} is outside of \`${accept.text}\`.`,
      others: [{ ...acceptPlace, detail: 'The accepted versions.' }],
    },
  ];
}

/** Warns about a Mac that came with a newer macOS than the file asks for: it cannot go back to an older one. */
function modelNeedsNewer({ nodes, version, accept }: Draft): readonly Finding[] {
  return nodes.flatMap(({ name, model }) => {
    const mac = model === undefined ? undefined : macModel(model.text);
    if (model === undefined || mac === undefined) return [];
    const isTooOld = version?.isText === true && acceptsVersion(`<${mac.firstMacos}`, version.text) === true;
    const isOutside = accept?.isText === true && isAboveRange(accept.text, mac.firstMacos) === true;
    const wish = isOutside ? accept : isTooOld ? version : undefined;
    if (wish === undefined) return [];
    return {
      code: 'version/model-needs-newer',
      pointer: wish.pointer,
      detail: `${name} is a ${mac.name} (${model.text}), which came with macOS ${mac.firstMacos} and starts with no older one.`,
      subject: nodeSubject(name),
      others: [{ pointer: model.pointer, detail: 'The model is declared here.' }],
    };
  });
}

/** `macos.accept` is a range that some version can meet. */
function badRange({ accept }: Draft): readonly Finding[] {
  const problem = accept === undefined || !accept.isText ? undefined : rangeProblem(accept.text);
  if (accept === undefined || problem === undefined) return [];
  return [{ code: 'version/bad-range', pointer: accept.pointer, detail: problem }];
}
