import { diagnose } from '../../diagnostics/diagnose.ts';
import { macModel, macModelsDate } from '../../model/macs.ts';
import { nodeSubject } from '../../model/subject.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { hardwareFact } from './hardware-fact.ts';

/** Macs whose model is in neither the file nor the table of Macs. A declared model is reported with the file. */
export const unknownModel: Rule = ({ nodes, desired }) =>
  nodes.flatMap(({ name, facts }) => {
    const hardware = read(facts, hardwareFact);
    const isDeclared = desired.nodes.some((node) => node.name === name && node.hardware.model !== undefined);
    if (isDeclared || hardware.kind === 'unknown' || macModel(hardware.value.model) !== undefined) return [];
    const detail = `${hardware.value.model} (${hardware.value.chip}) is not in the table of ${macModelsDate}.`;
    const hint = 'Nothing to do: the Mac itself reports its receptacles. A newer meshwright may know the model.';
    return [diagnose('topology/unknown-model', { subject: nodeSubject(name), detail, hint })];
  });
