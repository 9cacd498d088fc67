import { acceptsVersion, isAboveRange } from '../../desired/version-range.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { MacosUpdate, MacosVersion } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { nodesSubject } from '../../model/subject.ts';
import { joinProse, mapWords, named, namedList, type Prose, prose } from '../../model/text/prose.ts';
import { defineNodeRule, defineRule } from '../define-rule.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { isBeta, macosVersionFact, softwareUpdatesFact, updateText } from './fact.ts';
import { compareVersions, isOutsideAccept, macosOf, versionText } from './macos.ts';

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
function versionsHint(wanted: DesiredFleet['macos'], groups: readonly Group[]): Prose {
  const { version: wish } = wanted;
  const [newest] = groups.toSorted((a, b) => compareVersions(b.version, a.version) || (a.text < b.text ? 1 : -1));
  const offersOf = (version: string): Prose =>
    offersHint(
      groups.flatMap(({ nodes }) => nodes),
      { ...wanted, version },
    );
  const isNewer = wish !== undefined && newest !== undefined && compareVersions(newest.version, wish) > 0;
  if (isNewer) {
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
  (examination) => {
    const wish = examination.desired.macos.version;
    const groups = [...cabledNodesByVersion(examination)]
      .map(([text, nodes]): Group => {
        const [first] = nodes;
        const version = first === undefined ? undefined : macosOf(first)?.version;
        return { text, version: version ?? text, nodes };
      })
      .toSorted(rank(wish));
    if (groups.length < 2) return [];
    const told = groups.map((group) => prose`${group.text} on ${namedList(namesOf(group))}`);
    return [
      {
        code: 'macos/versions-differ',
        subject: nodesSubject(groups.slice(1).flatMap(namesOf).toSorted()),
        detail: prose`Cabled nodes run different macOS versions: ${joinProse(told, '; ')}. RDMA peers may not see each other.`,
        hint: mapWords(versionsHint(examination.desired.macos, groups), escapeText),
      },
    ];
  },
);

/** Whether the node would have to go back to be as the file says. */
function isPast({ version: wish, accept = '' }: DesiredFleet['macos'], { version }: MacosVersion): boolean {
  return wish === undefined ? isAboveRange(accept, version) === true : compareVersions(version, wish) > 0;
}

function acceptHint(wanted: DesiredFleet['macos'], node: ExaminedNode, macos: MacosVersion): Prose {
  if (isPast(wanted, macos)) {
    return `Take ${macos.version} into macos.version and macos.accept of the file; ${noWayBack}.`;
  }
  const target = wanted.version ?? 'a version in that range';
  const offers = offersHint([node], wanted);
  const where = wantedOffer(node, wanted) === undefined ? ` (${updatePane})` : '';
  return prose`Bring macOS on ${named(node.name)} to ${target}${where}, or widen macos.accept.${offers}`;
}

/** macOS versions outside `macos.accept`. */
export const macosAccept = defineNodeRule(
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
  (node, examination) => {
    const wanted = examination.desired.macos;
    const macos = macosOf(node);
    if (macos === undefined || !isOutsideAccept(examination, node)) return [];
    return {
      code: 'macos/outside-accept',
      detail: `macOS ${versionText(macos)} is outside of what the file accepts (${wanted.accept ?? ''}).`,
      hint: mapWords(acceptHint(wanted, node, macos), escapeText),
    };
  },
);

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
  (examination) => {
    const wish = examination.desired.macos.version;
    if (wish === undefined || cabledNodesByVersion(examination).size > 1) return [];
    const others = groupBy(examination.nodes, (node) => {
      const version = macosOf(node)?.version;
      // `=26.5.0` and not `26.5`, which as a range would mean every 26.5.x.
      const exact = wish.split('.').length === 2 ? `=${wish}.0` : `=${wish}`;
      const isOther = version !== undefined && acceptsVersion(exact, version) === false;
      return isOther && !isOutsideAccept(examination, node) ? version : undefined;
    });
    return [...others].map(([version, nodes]) => ({
      code: 'macos/not-the-wish',
      subject: nodesSubject(nodes.map((node) => node.name)),
      detail: `macOS ${version} is usable; the file wishes for ${wish}.`,
      hint: mapWords(
        compareVersions(version, wish) > 0
          ? `Write ${version} as macos.version into the file; ${noWayBack}.`
          : prose`Bring macOS to ${wish} when it suits you, on all cabled nodes together.${offersHint(nodes, examination.desired.macos)}`,
        escapeText,
      ),
    }));
  },
);

function modelAndVersion(node: ExaminedNode): string | undefined {
  const hardware = readValue(node.facts, hardwareFact);
  const macos = macosOf(node);
  return hardware && macos && `${hardware.model} with macOS ${versionText(macos)}`;
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
  (examination) =>
    [...groupBy(examination.nodes, modelAndVersion)].flatMap(([what, nodes]) => {
      const builds = groupBy(nodes, (node) => macosOf(node)?.build);
      if (builds.size < 2) return [];
      const told = [...builds].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const each = told.map(
        ([build, same]) => prose`${build ?? 'undefined'} on ${namedList(same.map((node) => node.name))}`,
      );
      return {
        code: 'macos/builds-differ',
        subject: nodesSubject(nodes.map((node) => node.name)),
        detail: prose`${what} comes in several builds: ${joinProse(each, '; ')}.`,
        hint: 'Install the same update on all of them; a beta shows as another build.',
      };
    }),
);

/** Where a person installs an update of macOS. */
const updatePane = 'System Settings > General > Software Update';

/**
 * Sentences about the updates that these Macs offer, each with a blank before it. Macs without a newer macOS to offer
 * and Macs that already have the wanted version are left out.
 */
function offersHint(nodes: readonly ExaminedNode[], wanted: DesiredFleet['macos']): Prose {
  const groups = [...groupBy(nodes, (node) => offerText(node, wanted))];
  return joinProse(
    groups.map(([offer, those]) => {
      const names = joinProse(
        those.map(({ name }) => [named(name)]),
        ', ',
      );
      return prose` ${names} ${verb(those)} ${offer}.`;
    }),
    '',
  );
}

const verb = (nodes: readonly ExaminedNode[]): string => (nodes.length === 1 ? 'offers' : 'offer');

/** The newest update that a Mac offers and the file wants. */
function wantedOffer(node: ExaminedNode, wanted: DesiredFleet['macos']): MacosUpdate | undefined {
  const [best] = newerUpdates(node, wanted)
    .filter(({ version }) => isAccepted(wanted, version))
    .filter(({ version }) => wanted.version === undefined || compareVersions(version, wanted.version) === 0)
    .toSorted((a, b) => Number(isBeta(a)) - Number(isBeta(b)) || compareVersions(b.version, a.version));
  return best;
}

/** The newest update that the file wants, else all newer ones and why they do not help. */
function offerText(node: ExaminedNode, wanted: DesiredFleet['macos']): string | undefined {
  const offers = newerUpdates(node, wanted);
  if (offers.length === 0) return undefined;
  const accepted = offers.filter(({ version }) => isAccepted(wanted, version));
  const best = wantedOffer(node, wanted);
  if (best !== undefined) {
    return wanted.version === undefined
      ? `${updateText(best)}, in ${updatePane}`
      : `it: ${updateText(best)}, in ${updatePane}`;
  }
  const only = `only ${offers.map(updateText).join(' and ')}`;
  return accepted.length === 0 ? `${only}, which the file does not accept` : `${only}, not ${wanted.version}`;
}

/** None for a Mac that has the wanted version already, or whose version or updates are unknown. */
function newerUpdates({ facts }: ExaminedNode, { version: wish }: DesiredFleet['macos']): readonly MacosUpdate[] {
  const macos = read(facts, macosVersionFact);
  const offers = read(facts, softwareUpdatesFact);
  if (macos.kind === 'unknown' || offers.kind === 'unknown') return [];
  const { version: installed } = macos.value;
  if (wish !== undefined && compareVersions(installed, wish) >= 0 && !isBeta(macos.value)) return [];
  return offers.value.filter((update) => {
    const order = compareVersions(update.version, installed);
    // The release of a beta has its version, and another build.
    return order > 0 || (order === 0 && isBeta(macos.value) && !isBeta(update));
  });
}

const isAccepted = ({ accept }: DesiredFleet['macos'], version: string): boolean =>
  accept === undefined || acceptsVersion(accept, version) === true;

/** Why no hint asks for an older version than a node has. */
const noWayBack = 'going back means erasing the Mac (RDMA must then be enabled again)';

/** The cabled nodes by version, for those whose version is known and not already outside `macos.accept`. */
function cabledNodesByVersion(examination: Examination): ReadonlyMap<string, readonly ExaminedNode[]> {
  return groupBy(examination.nodes, (node) => {
    const macos = macosOf(node);
    const counts = macos !== undefined && node.ends.length > 0 && !isOutsideAccept(examination, node);
    return counts ? versionText(macos) : undefined;
  });
}
