import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { diskText } from '../../model/text/units.ts';
import { defineRule } from '../define-rule.ts';
import { read } from '../fact.ts';
import { diskSpaceFact } from './disk-space-fact.ts';

const wantedFreeShare = 0.1;

/** Nodes with less than a tenth of the data volume free. */
export const disk = defineRule(
  {
    'disk/low': {
      severity: 'warning',
      summary: 'The data volume is nearly full.',
      cause: 'Less than 10 % are free; models, updates and swap need room.',
      hint: 'Make room on the data volume.',
      role: 'told',
      facts: [diskSpaceFact],
    },
  },
  ({ nodes }, codes) =>
    nodes.flatMap(({ name, facts }) => {
      const seen = read(facts, diskSpaceFact);
      if (seen.kind === 'unknown' || seen.value.freeBytes >= seen.value.totalBytes * wantedFreeShare) {
        return [];
      }
      const { freeBytes, totalBytes } = seen.value;
      return [
        diagnose(codes['disk/low'], {
          subject: nodeSubject(name),
          detail: `Only ${diskText(freeBytes)} of ${diskText(totalBytes)} are free.`,
          hint: prose`Make room on the data volume of ${named(name)}.`,
        }),
      ];
    }),
);
