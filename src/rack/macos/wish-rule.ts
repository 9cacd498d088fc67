import { acceptsVersion } from '../../desired/version-range.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { groupBy } from '../../model/lists.ts';
import { nodesSubject } from '../../model/subject.ts';
import { mapWords, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import { macosVersionFact } from './fact.ts';
import { cabledNodesByVersion, compareVersions, isOutsideAccept, macosOf, noWayBack } from './macos.ts';
import { offersHint } from './macos-offers.ts';

/** Usable macOS versions that are not the wished one. Silent while cabled nodes differ: that is told, with the same cure. */
export const macosWish = defineRule(
  {
    'macos/not-the-wish': {
      severity: 'notice',
      summary: 'A usable macOS version, but not the one that the file wishes for.',
      cause: 'The version is inside macos.accept (or there is none) and is not macos.version.',
      hint: 'Update macOS when it suits you.',
      role: 'told',
      facts: [macosVersionFact],
    },
  },
  (examination, codes) => {
    const wish = examination.desired.macos.version;
    if (wish === undefined || cabledNodesByVersion(examination).size > 1) {
      return [];
    }
    const others = groupBy(examination.nodes, (node) => {
      const version = macosOf(node)?.version;
      // `=26.5.0` and not `26.5`, which as a range would mean every 26.5.x.
      const exact = wish.split('.').length === 2 ? `=${wish}.0` : `=${wish}`;
      const isOther = version !== undefined && acceptsVersion(exact, version) === false;
      return isOther && !isOutsideAccept(examination, node) ? version : undefined;
    });
    return [...others].map(([version, nodes]) =>
      diagnose(codes['macos/not-the-wish'], {
        subject: nodesSubject(nodes.map((node) => node.name)),
        detail: `macOS ${version} is usable; the file wishes for ${wish}.`,
        hint: mapWords(
          compareVersions(version, wish) > 0
            ? `Write ${version} as macos.version into the file; ${noWayBack}.`
            : prose`Bring macOS to ${wish} when it suits you, on all cabled nodes together.${offersHint(nodes, examination.desired.macos)}`,
          escapeText,
        ),
      }),
    );
  },
);
