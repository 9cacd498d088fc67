import { cableGroups } from '../../desired/update-units.ts';
import { acceptsVersion, isAboveRange } from '../../desired/version-range.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { MacosUpdate, MacosVersion } from '../../model/facts/mac.ts';
import { compareText, groupBy } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { nodesSubject } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { joinProse, mapWords, named, namedList, type Prose, prose } from '../../model/text/prose.ts';
import { defineNodeRule, defineRule } from '../define-rule.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { jobsFact } from '../records/jobs-fact.ts';
import { isBeta, macosVersionFact, softwareUpdatesFact, updateText, versionText } from './fact.ts';
import { compareVersions, isOutsideAccept, macosOf } from './reading.ts';
import { runningUpdate } from './update-reading.ts';

/** The nodes that run one version; `text` includes the extra of a background security improvement. */
interface Group {
  readonly text: string;
  readonly version: string;
  readonly nodes: readonly ExaminedNode[];
}

/** Sorts the correct group first: the desired version's, otherwise the largest, otherwise the newest. */
function rank(desired: string | undefined): (a: Group, b: Group) => number {
  const isDesired = ({ version }: Group): number => Number(version === desired);
  return (a, b) =>
    isDesired(b) - isDesired(a) ||
    b.nodes.length - a.nodes.length ||
    compareVersions(b.version, a.version) ||
    compareText(b.text, a.text);
}

/** macOS cannot be downgraded in place, so the newest installed version is the oldest that all Macs can share. */
function versionsHint(wanted: DesiredFleet['macos'], groups: readonly Group[]): Prose {
  const { version: desired } = wanted;
  const [newest] = groups.toSorted((a, b) => compareVersions(b.version, a.version) || compareText(b.text, a.text));
  const all = groups.flatMap(({ nodes }) => nodes);
  const offersOf = (version: string): Prose =>
    prose`${offersHint(all, { ...wanted, version })}${waysAround(all, { ...wanted, version })}`;
  const isNewer = desired !== undefined && newest !== undefined && compareVersions(newest.version, desired) > 0;
  if (isNewer) {
    const names = everyNodeText(newest.nodes.map(({ name }) => name));
    return prose`Set macos.version in the file to ${newest.version}, include it in macos.accept, and update all cabled nodes to ${newest.version}: ${names} cannot simply return to ${desired}, because ${noWayBack}.${offersOf(newest.version)}`;
  }
  const target = desired ?? newest?.version;
  const offers = target === undefined ? '' : offersOf(target);
  return prose`Update all cabled nodes to ${desired ?? newest?.text ?? 'one version'}, with the same background security improvements.${offers}`;
}

const namesOf = ({ nodes }: Pick<Group, 'nodes'>): readonly string[] => nodes.map(({ name }) => name);

/**
 * Cabled nodes whose macOS versions differ (including the extra of a background security improvement). The subjects are
 * the nodes without the desired version, or without the most common version if no node runs the desired one.
 */
export const macosVersions = defineRule(
  {
    'macos/versions-differ': {
      traits: ['mixed-macos'],
      summary: 'Cabled nodes run different macOS versions.',
      cause:
        'RDMA peers may not see each other across macOS versions. exo therefore requires exactly equal versions, including beta numbers and background security improvements.',
      hint: 'Update all cabled nodes to the same version.',
      role: { blocks: 'macos' },
      facts: [macosVersionFact],
    },
  },
  (examination) => {
    const desired = examination.desired.macos.version;
    return cabledByVersion(examination).flatMap((byVersion) => {
      const groups = [...byVersion]
        .map(([text, nodes]): Group => ({ text, version: (nodes[0] && macosOf(nodes[0])?.version) ?? text, nodes }))
        .toSorted(rank(desired));
      if (groups.length < 2) return [];
      const each = groups.map((group) => prose`${group.text} on ${namedList(namesOf(group))}`);
      return {
        code: 'macos/versions-differ' as const,
        subject: nodesSubject(groups.slice(1).flatMap(namesOf).toSorted()),
        detail: prose`Cabled nodes run different macOS versions: ${joinProse(each, '; ')}. RDMA peers may not see each other.`,
        hint: mapWords(versionsHint(examination.desired.macos, groups), escapeText),
      };
    });
  },
);

/** True if the node would need a downgrade to match the file. */
function isPast({ version: desired, accept = '' }: DesiredFleet['macos'], { version }: MacosVersion): boolean {
  return desired === undefined ? isAboveRange(accept, version) === true : compareVersions(version, desired) > 0;
}

function acceptHint(wanted: DesiredFleet['macos'], node: ExaminedNode, macos: MacosVersion): Prose {
  if (isPast(wanted, macos)) {
    return `Set macos.version in the file to ${macos.version} and include it in macos.accept: ${noWayBack}.`;
  }
  const target = wanted.version ?? 'an accepted version';
  const offers = offersHint([node], wanted);
  const where = wantedOffer(node, wanted) === undefined ? ` (${updatePane})` : '';
  return prose`Update macOS on ${named(node.name)} to ${target}${where}, or widen macos.accept.${offers}`;
}

export const macosAccept = defineNodeRule(
  {
    'macos/outside-accept': {
      traits: ['darkens'],
      summary: 'The file does not accept this macOS version.',
      cause: 'The version that `sw_vers` prints is outside macos.accept.',
      hint: 'Update macOS on this node, or widen macos.accept: a downgrade to an older macOS erases the Mac.',
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
      detail: `macOS ${versionText(macos)} is outside the range that the file accepts (${wanted.accept ?? ''}).`,
      hint: mapWords(acceptHint(wanted, node, macos), escapeText),
    };
  },
);

/** Usable macOS versions other than the desired one. Not reported while cabled nodes differ: the cure is the same. */
export const otherMacos = defineRule(
  {
    'macos/not-the-wish': {
      severity: 'notice',
      summary: 'The macOS version is usable, but it is not the version in the file.',
      cause: 'The version is inside macos.accept (or the file does not set it) but differs from macos.version.',
      hint: prose`When convenient: ${meshwright('upgrade macos', '--all')}`,
      facts: [macosVersionFact],
    },
  },
  (examination) => {
    const desired = examination.desired.macos.version;
    if (desired === undefined || cabledByVersion(examination).some(({ size }) => size > 1)) return [];
    const others = groupBy(examination.nodes, (node) => {
      const version = macosOf(node)?.version;
      // Uses `=26.5.0`, because `26.5` as a range would mean every 26.5.x.
      const exact = desired.split('.').length === 2 ? `=${desired}.0` : `=${desired}`;
      const isOther = version !== undefined && acceptsVersion(exact, version) === false;
      return isOther && !isOutsideAccept(examination, node) ? version : undefined;
    });
    return [...others].map(([version, nodes]) => ({
      code: 'macos/not-the-wish',
      subject: nodesSubject(nodes.map((node) => node.name)),
      detail: `macOS ${version} is usable, but the file wants ${desired}.`,
      hint: mapWords(
        compareVersions(version, desired) > 0
          ? `Set macos.version in the file to ${version}: ${noWayBack}.`
          : prose`When convenient, update all cabled nodes together to macOS ${desired}: ${aside(meshwright('upgrade macos', '--all'))}.${offersHint(nodes, examination.desired.macos)}`,
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

/** Macs of one model and one version with different builds. Different models may have different builds. */
export const macosBuilds = defineRule(
  {
    'macos/builds-differ': {
      severity: 'warning',
      traits: ['mixed-builds'],
      summary: 'Macs of the same model run different builds of the same macOS version.',
      cause:
        'Builds may differ between models, but not between Macs of one model. One of these Macs has a beta or an unfinished update.',
      hint: 'Update the Macs with the older build.',
      facts: [macosVersionFact],
    },
  },
  (examination) =>
    [...groupBy(examination.nodes, modelAndVersion)].flatMap(([what, nodes]) => {
      const builds = groupBy(nodes, (node) => macosOf(node)?.build);
      if (builds.size < 2) return [];
      const sorted = [...builds].toSorted(([a], [b]) => compareText(a, b));
      const each = sorted.map(([build, same]) => prose`${build} on ${namedList(same.map((node) => node.name))}`);
      return {
        code: 'macos/builds-differ',
        subject: nodesSubject(nodes.map((node) => node.name)),
        detail: prose`${what} runs different builds: ${joinProse(each, '; ')}.`,
        hint: 'Install the same update on all these Macs. A beta has a different build.',
      };
    }),
);

/** While macOS installs an update, the Mac restarts at any moment: nothing is started there. */
export const macosUpdating = defineNodeRule(
  {
    'macos/updating': {
      severity: 'warning',
      summary: 'macOS is installing an update.',
      cause: '`upgrade macos` started it in this boot session. The Mac restarts as soon as it is prepared.',
      hint: prose`To follow it and to bring its placements back: ${meshwright('upgrade macos', '--all')}`,
      role: { blocks: 'macos' },
      facts: [jobsFact],
    },
  },
  ({ facts }) => {
    const update = runningUpdate(facts);
    return update === undefined
      ? []
      : { code: 'macos/updating', detail: `It installs ${update['label'] ?? 'an update'}, and then restarts.` };
  },
);

const updatePane = 'System Settings > General > Software Update';

/**
 * Sentences about the updates that these Macs offer, each after a blank. Macs that offer no newer macOS and Macs that
 * already have the desired version are left out.
 */
function offersHint(nodes: readonly ExaminedNode[], wanted: DesiredFleet['macos']): Prose {
  const groups = [...groupBy(nodes, (node) => offerText(node, wanted))];
  return joinProse(
    groups.map(
      ([offer, those]) =>
        prose` ${namedList(namesOf({ nodes: those }))} ${those.length === 1 ? 'offers' : 'offer'} ${offer}.`,
    ),
    '',
  );
}

/** What to do if some of these Macs have updates, but none to the desired version; otherwise empty. */
function waysAround(
  nodes: readonly ExaminedNode[],
  wanted: DesiredFleet['macos'] & { readonly version: string },
): Prose {
  const without = nodes.filter(
    (node) => newerUpdates(node, wanted).length > 0 && wantedOffer(node, wanted) === undefined,
  );
  if (without.length === 0) return '';
  const offered = nodes.map((node) =>
    newerUpdates(node, {}).flatMap((update) =>
      !isBeta(update) && isAccepted(wanted, update.version) ? [update.version] : [],
    ),
  );
  const common = offered[0]?.filter((version) => offered.every((one) => one.includes(version))) ?? [];
  const [next] = common.toSorted(compareVersions);
  const other =
    next === undefined
      ? ''
      : ` Or set macos.version to ${next}, which all of them are offered, and update all of them.`;
  return prose`${other} Or use a full installer of ${wanted.version} on ${namedList(namesOf({ nodes: without }))}.`;
}

/** The best update that a Mac offers and that the file wants: releases before betas, then the newest. */
function wantedOffer(node: ExaminedNode, wanted: DesiredFleet['macos']): MacosUpdate | undefined {
  const [best] = newerUpdates(node, wanted)
    .filter(({ version }) => isAccepted(wanted, version))
    .filter(({ version }) => wanted.version === undefined || compareVersions(version, wanted.version) === 0)
    .toSorted((a, b) => Number(isBeta(a)) - Number(isBeta(b)) || compareVersions(b.version, a.version));
  return best;
}

/** The update that the file wants; otherwise all newer updates and the reasons why they do not help. */
function offerText(node: ExaminedNode, wanted: DesiredFleet['macos']): string | undefined {
  const offers = newerUpdates(node, wanted);
  if (offers.length === 0) return undefined;
  const accepted = offers.filter(({ version }) => isAccepted(wanted, version));
  const best = wantedOffer(node, wanted);
  if (best !== undefined) {
    return `${wanted.version === undefined ? '' : 'this version: '}${updateText(best)}, in ${updatePane}`;
  }
  const only = `only ${offers.map(updateText).join(' and ')}`;
  return accepted.length === 0 ? `${only}, which the file does not accept` : `${only}, not ${wanted.version}`;
}

/** Updates that the Mac still needs: with the desired version, only background security. Empty if unknown. */
function newerUpdates({ facts }: ExaminedNode, { version: desired }: DesiredFleet['macos']): readonly MacosUpdate[] {
  const macos = read(facts, macosVersionFact);
  const offers = read(facts, softwareUpdatesFact);
  if (macos.kind === 'unknown' || offers.kind === 'unknown') return [];
  const { version: installed } = macos.value;
  const isDone = desired !== undefined && compareVersions(installed, desired) >= 0 && !isBeta(macos.value);
  return offers.value.filter((update) => {
    const order = compareVersions(update.version, installed);
    // The release after a beta has the same version and a different build.
    const isImprovement = update.extra !== undefined && update.extra > (macos.value.extra ?? '');
    return (order > 0 && !isDone) || (order === 0 && (isImprovement || (isBeta(macos.value) && !isBeta(update))));
  });
}

const isAccepted = ({ accept }: DesiredFleet['macos'], version: string): boolean =>
  accept === undefined || acceptsVersion(accept, version) === true;

/** The reason why no hint suggests an older version than a node has. */
const noWayBack = 'a downgrade erases the Mac (and RDMA must then be enabled again)';

/**
 * The nodes of each group of cabled Macs by version. Nodes with an unknown version or one outside `macos.accept` are left
 * out.
 */
const cabledByVersion = (examination: Examination): readonly ReadonlyMap<string, readonly ExaminedNode[]>[] =>
  cableGroups(examination.desired).map((group) =>
    groupBy(examination.nodes, (node) => {
      const macos = macosOf(node);
      const isCounted = macos !== undefined && group.includes(node.name) && !isOutsideAccept(examination, node);
      return isCounted ? versionText(macos) : undefined;
    }),
  );
