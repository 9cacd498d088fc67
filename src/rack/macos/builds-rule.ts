import { diagnose } from '../../diagnostics/diagnose.ts';
import { groupBy } from '../../model/lists.ts';
import { nodesSubject } from '../../model/subject.ts';
import { joinProse, namedList, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { hardwareFact } from '../identity/hardware-fact.ts';
import { macosVersionFact } from './fact.ts';
import { macosOf, versionText } from './macos.ts';

function modelAndVersion(node: ExaminedNode): string | undefined {
  const hardware = read(node.facts, hardwareFact);
  const macos = macosOf(node);
  return hardware.kind === 'known' && macos !== undefined
    ? `${hardware.value.model} with macOS ${versionText(macos)}`
    : undefined;
}

/** Macs of one model and one version with different builds. Different models may rightly have different builds. */
export const macosBuilds = defineRule(
  {
    'macos/builds-differ': {
      severity: 'warning',
      summary: 'Equal Macs run different builds of the same macOS version.',
      cause:
        'Builds may differ between models, but not between Macs of one model: one of them has a beta, or an update that did not end.',
      hint: 'Update the older build.',
      role: 'told',
      facts: [macosVersionFact],
    },
  },
  (examination, codes) =>
    [...groupBy(examination.nodes, modelAndVersion)].flatMap(([what, nodes]) => {
      const builds = groupBy(nodes, (node) => macosOf(node)?.build);
      if (builds.size < 2) {
        return [];
      }
      const told = [...builds].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const each = told.map(
        ([build, same]) => prose`${build ?? 'undefined'} on ${namedList(same.map((node) => node.name))}`,
      );
      return [
        diagnose(codes['macos/builds-differ'], {
          subject: nodesSubject(nodes.map((node) => node.name)),
          detail: prose`${what} comes in several builds: ${joinProse(each, '; ')}.`,
          hint: 'Install the same update on all of them; a beta shows as another build.',
        }),
      ];
    }),
);
