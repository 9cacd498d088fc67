import { paceOf } from '../../desired/fit-macs.ts';
import { layoutsOf } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { placementSubject } from '../../model/subject.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { hardwareFact } from './hardware-fact.ts';

/** Which Macs set the pace of a placement, where the file does not declare all their models and the Macs report them. */
export const unequalMacs: Rule = ({ desired, nodes }) =>
  desired.placements.flatMap(layoutsOf).flatMap(({ name, nodes: own, home }) => {
    const isDeclared = own.every(
      (node) => desired.nodes.find((one) => one.name === node)?.hardware.model !== undefined,
    );
    const macs = own.flatMap((node) => {
      const hardware = read(nodes.find((one) => one.name === node)?.facts, hardwareFact);
      const declared = desired.nodes.find((one) => one.name === node)?.hardware.model;
      const model = hardware?.kind === 'known' ? hardware.value.model : declared;
      return model === undefined ? [] : [{ name: node, model }];
    });
    const pace = isDeclared || macs.length < own.length ? undefined : paceOf(macs);
    return pace === undefined
      ? []
      : [
          diagnose('placement/unequal-macs', {
            subject: placementSubject(name),
            detail: home === undefined ? pace.detail : `On its fallback: ${pace.detail}`,
          }),
        ];
  });
