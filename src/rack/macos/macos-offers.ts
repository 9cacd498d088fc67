import { acceptsVersion } from '../../desired/version-range.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { MacosUpdate } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import type { ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { macosVersionFact } from './fact.ts';
import { compareVersions } from './macos.ts';
import { softwareUpdatesFact } from './software-updates-fact.ts';

/** Where a person installs an update of macOS. */
export const updatePane = 'System Settings > General > Software Update';

/** `macOS 26.7 (25G229)`. Titles are left out, because Apple has several for one system. */
export const updateText = (update: MacosUpdate): string =>
  `macOS ${update.version}${update.build === undefined ? '' : ` (${update.build}${isBeta(update) ? ', beta' : ''})`}`;

/** The build of a beta ends with a small letter. */
const isBeta = ({ build = '' }: { readonly build?: string }): boolean => /[a-z]$/.test(build);

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
