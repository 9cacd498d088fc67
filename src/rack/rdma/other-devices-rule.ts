import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { nodeSubject } from '../../model/subject.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { otherRdmaDevicesFact } from './other-devices-fact.ts';

/** RDMA devices that belong to no receptacle: told, and never counted. */
export const otherRdmaDevices: Rule = ({ nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const found = read(facts, otherRdmaDevicesFact);
    return found.kind === 'unknown' || found.value.length === 0
      ? []
      : [
          diagnose('rdma/other-device', {
            subject: nodeSubject(name),
            detail: `It also has ${found.value.map(escapeText).join(', ')}.`,
          }),
        ];
  });
