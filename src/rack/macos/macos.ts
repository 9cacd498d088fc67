import { acceptsVersion } from '../../desired/version-range.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { MacosVersion } from '../../model/facts/mac.ts';
import { groupBy } from '../../model/lists.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { macosVersionFact } from './fact.ts';

/** RDMA over Thunderbolt came with this macOS. @see Apple TN3205 */
export const firstMacosWithRdma = '26.2';

/** The macOS version of a node, or undefined when it is unknown. */
export const macosOf = (node: ExaminedNode): MacosVersion | undefined => {
  const fact = read(node.facts, macosVersionFact);
  return fact.kind === 'known' ? fact.value : undefined;
};

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
export const hasRdmaInSettings = (facts: Facts): boolean => {
  const macos = read(facts, macosVersionFact);
  return macos.kind === 'known' && isRdmaInSettings(macos.value.version);
};

/** The cabled nodes by version, for those whose version is known and not already outside `macos.accept`. */
export function cabledNodesByVersion(examination: Examination): ReadonlyMap<string, readonly ExaminedNode[]> {
  return groupBy(examination.nodes, (node) => {
    const macos = macosOf(node);
    const counts = macos !== undefined && node.ends.length > 0 && !isOutsideAccept(examination, node);
    return counts ? versionText(macos) : undefined;
  });
}
