import { isAboveRange } from '../../desired/version-range.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { MacosVersion } from '../../model/facts/mac.ts';
import { nodeSubject } from '../../model/subject.ts';
import { mapWords, named, type Prose, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { macosVersionFact } from './fact.ts';
import { compareVersions, isOutsideAccept, macosOf, noWayBack, versionText } from './macos.ts';
import { offersHint, updatePane, wantedOffer } from './macos-offers.ts';

/** Whether the node would have to go back to be as the file says. */
function isPast({ version: wish, accept = '' }: DesiredFleet['macos'], { version }: MacosVersion): boolean {
  return wish === undefined ? isAboveRange(accept, version) === true : compareVersions(version, wish) > 0;
}

function hint(wanted: DesiredFleet['macos'], node: ExaminedNode, macos: MacosVersion): Prose {
  if (isPast(wanted, macos)) {
    return `Take ${macos.version} into macos.version and macos.accept of the file; ${noWayBack}.`;
  }
  const target = wanted.version ?? 'a version in that range';
  const offers = offersHint([node], wanted);
  const where = wantedOffer(node, wanted) === undefined ? ` (${updatePane})` : '';
  return prose`Bring macOS on ${named(node.name)} to ${target}${where}, or widen macos.accept.${offers}`;
}

/** macOS versions outside `macos.accept`. */
export const macosAccept = defineRule(
  {
    'macos/outside-accept': {
      severity: 'error',
      summary: 'The macOS version is not one that the file accepts.',
      cause: 'The version that `sw_vers` prints lies outside macos.accept.',
      hint: 'Update macOS on this node, or widen macos.accept: going back to an older macOS means erasing the Mac.',
      role: { blocks: 'macos' },
      facts: [macosVersionFact],
    },
  },
  (examination, codes) => {
    const wanted = examination.desired.macos;
    return examination.nodes.flatMap((node) => {
      const macos = macosOf(node);
      if (macos === undefined || !isOutsideAccept(examination, node)) {
        return [];
      }
      return [
        diagnose(codes['macos/outside-accept'], {
          subject: nodeSubject(node.name),
          detail: `macOS ${versionText(macos)} is outside of what the file accepts (${wanted.accept ?? ''}).`,
          hint: mapWords(hint(wanted, node, macos), escapeText),
        }),
      ];
    });
  },
);
