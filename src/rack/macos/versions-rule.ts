import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { nodesSubject } from '../../model/subject.ts';
import { joinProse, mapWords, namedList, type Prose, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import type { ExaminedNode } from '../examination.ts';
import { macosVersionFact } from './fact.ts';
import { cabledNodesByVersion, compareVersions, macosOf, noWayBack } from './macos.ts';
import { offersHint } from './macos-offers.ts';

/** The nodes that run one version; `text` has the extra of a background security improvement behind it. */
interface Group {
  readonly text: string;
  readonly version: string;
  readonly nodes: readonly ExaminedNode[];
}

/** The group that is as it should be comes first: that of the wish, else the largest, else the newest. */
function rank(wish: string | undefined): (a: Group, b: Group) => number {
  const isWish = ({ version }: Group): number => Number(version === wish);
  return (a, b) =>
    isWish(b) - isWish(a) ||
    b.nodes.length - a.nodes.length ||
    compareVersions(b.version, a.version) ||
    (a.text < b.text ? 1 : -1);
}

/** macOS only goes forward, so the newest version that is there is the oldest that all can have. */
function hint(wanted: DesiredFleet['macos'], groups: readonly Group[]): Prose {
  const { version: wish } = wanted;
  const [newest] = groups.toSorted((a, b) => compareVersions(b.version, a.version) || (a.text < b.text ? 1 : -1));
  const offersOf = (version: string): Prose =>
    offersHint(
      groups.flatMap(({ nodes }) => nodes),
      { ...wanted, version },
    );
  const isPast = wish !== undefined && newest !== undefined && compareVersions(newest.version, wish) > 0;
  if (isPast) {
    const names = newest.nodes.map(({ name }) => name).join(', ');
    return prose`Write ${newest.version} as macos.version into the file (and into macos.accept), then bring all cabled nodes to ${newest.version}: ${names} cannot simply return to ${wish}, ${noWayBack}.${offersOf(newest.version)}`;
  }
  const target = wish ?? newest?.version;
  const offers = target === undefined ? '' : offersOf(target);
  return prose`Bring all cabled nodes to ${wish ?? newest?.text ?? 'one version'}, with the same background security improvements.${offers}`;
}

const namesOf = ({ nodes }: Group): readonly string[] => nodes.map(({ name }) => name);

/**
 * Cabled nodes whose macOS versions (with the extra of a background security improvement) are not equal. The finding
 * is about those that are not on the wished version, or on the most common one while nobody runs the wish.
 */
export const macosVersions = defineRule(
  {
    'macos/versions-differ': {
      severity: 'error',
      summary: 'Cabled nodes run different macOS versions.',
      cause:
        'RDMA peers may not see each other across macOS versions; exo therefore asks for exactly equal ones, beta numbers and background security improvements included.',
      hint: 'Bring all cabled nodes to one version.',
      role: { blocks: 'macos' },
      facts: [macosVersionFact],
    },
  },
  (examination, codes) => {
    const wish = examination.desired.macos.version;
    const groups = [...cabledNodesByVersion(examination)]
      .map(([text, nodes]): Group => {
        const [first] = nodes;
        const version = first === undefined ? undefined : macosOf(first)?.version;
        return { text, version: version ?? text, nodes };
      })
      .toSorted(rank(wish));
    if (groups.length < 2) {
      return [];
    }
    const told = groups.map((group) => prose`${group.text} on ${namedList(namesOf(group))}`);
    return [
      diagnose(codes['macos/versions-differ'], {
        subject: nodesSubject(groups.slice(1).flatMap(namesOf).toSorted()),
        detail: prose`Cabled nodes run different macOS versions: ${joinProse(told, '; ')}. RDMA peers may not see each other.`,
        hint: mapWords(hint(examination.desired.macos, groups), escapeText),
      }),
    ];
  },
);
