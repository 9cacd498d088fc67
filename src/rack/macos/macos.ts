import { acceptsVersion } from '../../desired/version-range.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { MacosUpdate, MacosVersion } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { isBeta, macosVersionFact, softwareUpdatesFact, updateText } from './fact.ts';

/** Where a person installs an update of macOS. */
export const updatePane = 'System Settings > General > Software Update';

/**
 * Sentences about the updates that these Macs offer, each with a blank before it. Macs without a newer macOS to offer
 * and Macs that already have the wanted version are left out.
 */
export function offersHint(nodes: readonly ExaminedNode[], wanted: DesiredFleet['macos']): Prose {
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
export function wantedOffer(node: ExaminedNode, wanted: DesiredFleet['macos']): MacosUpdate | undefined {
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

/** RDMA over Thunderbolt came with this macOS. @see Apple TN3205 */
export const firstMacosWithRdma = '26.2';

/** The macOS version of a node, or undefined when it is unknown. */
export const macosOf = (node: ExaminedNode): MacosVersion | undefined => readValue(node.facts, macosVersionFact);

/** `26.3.1 (a)`: what has to be equal on Macs that do RDMA with each other. */
export const versionText = ({ version, extra }: MacosVersion): string =>
  extra === undefined ? version : `${version} ${extra}`;

const numbersOf = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).map(Number);

/** Below 0 when `a` is the older version, above 0 when it is the newer one; 26.10 is newer than 26.4. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const differing = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    return (left[index] ?? 0) - (right[index] ?? 0);
  }).find((difference) => difference !== 0);
  return differing ?? 0;
}

/** Why no hint asks for an older version than a node has. */
export const noWayBack = 'going back means erasing the Mac (RDMA must then be enabled again)';

/** Whether the node's version is known to lie outside `macos.accept`. */
export function isOutsideAccept(examination: Examination, node: ExaminedNode): boolean {
  const { accept } = examination.desired.macos;
  const macos = macosOf(node);
  return accept !== undefined && macos !== undefined && acceptsVersion(accept, macos.version) === false;
}

/** Whether the node's version is known to be older than the first with RDMA. */
export function isTooOldForRdma(node: ExaminedNode): boolean {
  const macos = macosOf(node);
  return macos !== undefined && acceptsVersion(`<${firstMacosWithRdma}`, macos.version) === true;
}

/**
 * Whether this macOS has the RDMA switch in System Settings; before macOS 27 it is only in Recovery.
 * @see WWDC26; dev7a/rdmalink RDMASwitch.swift
 */
export const isRdmaInSettings = (version: string): boolean => compareVersions(version, '27.0') >= 0;

/** The same of a Mac. Where its macOS is unknown, only Recovery is certain. */
export function hasRdmaInSettings(facts: Facts): boolean {
  const seen = readValue(facts, macosVersionFact);
  return seen !== undefined && isRdmaInSettings(seen.version);
}

/** The cabled nodes by version, for those whose version is known and not already outside `macos.accept`. */
export function cabledNodesByVersion(examination: Examination): ReadonlyMap<string, readonly ExaminedNode[]> {
  return groupBy(examination.nodes, (node) => {
    const macos = macosOf(node);
    const counts = macos !== undefined && node.ends.length > 0 && !isOutsideAccept(examination, node);
    return counts ? versionText(macos) : undefined;
  });
}
