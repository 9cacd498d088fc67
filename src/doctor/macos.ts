import { acceptsVersion } from '../desired/version-range.ts';
import type { MacosVersion } from '../model/fact-values.ts';
import type { Examination, ExaminedNode } from './examination.ts';
import { groupBy } from './group-by.ts';

/** RDMA over Thunderbolt came with this macOS. @see Apple TN3205 */
export const firstMacosWithRdma = '26.2';

/** The macOS version of a node, or undefined when it is unknown. */
export const macosOf = (node: ExaminedNode): MacosVersion | undefined => {
  const fact = node.facts['macos-version'];
  return fact.kind === 'known' ? fact.value : undefined;
};

/** `26.3.1 (a)`: what has to be equal on Macs that do RDMA with each other. */
export const versionText = ({ version, extra }: MacosVersion): string =>
  extra === undefined ? version : `${version} ${extra}`;

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

/** The cabled nodes by version, for those whose version is known and not already outside `macos.accept`. */
export function cabledNodesByVersion(examination: Examination): ReadonlyMap<string, readonly ExaminedNode[]> {
  return groupBy(examination.nodes, (node) => {
    const macos = macosOf(node);
    const counts = macos !== undefined && node.ends.length > 0 && !isOutsideAccept(examination, node);
    return counts ? versionText(macos) : undefined;
  });
}
