import { rdmaCablesPath, rdmaCablesText } from './model/cables/rdma-cables.ts';
import { rdmaKernelFiles } from './model/cables/rdma-kernel.ts';
import { accountsPath, accountsText } from './model/directory.ts';
import { domainFiles } from './model/domains.ts';
import { macBehind, macNamed, type SimulatedFleet } from './model/fleet.ts';
import { networkPreferences, preferencesPath } from './model/network-preferences.ts';
import { dataFile, type NodeFile } from './model/node-files.ts';
import { panicReportFiles } from './model/panic-reports.ts';
import { plistText } from './model/plist.ts';
import { screenSharingJob, screenSharingPath } from './screen-sharing.ts';
import { seenCopy, toolFiles } from './tool-script.ts';
import { routesPath, routesText } from './tools/network/routes.ts';
import { tools } from './tools/registry.ts';

/** The Macs and cables that the files of a node depend on: it sees itself and the far ends of its cables. */
function seenFrom(fleet: SimulatedFleet, node: string): readonly unknown[] {
  const name = macBehind(fleet, node)?.name ?? node;
  const far = fleet.cables.flatMap(({ ends }) =>
    ends.some((end) => end.node === name) ? ends.map((end) => end.node) : [],
  );
  return [
    fleet.cables,
    fleet.hanging,
    fleet.strangers,
    name,
    ...[node, name, ...far].map((one) => macNamed(fleet, one)),
  ];
}

/** ENOMEM: what a program that opens a device gets where no protection domain is left. */
const noDomains = 'alloc_pd 12\n';

/** Renders nodes, and gives the very same list again while nothing has changed that a node can see. */
export function createRenderer(): (fleet: SimulatedFleet, node: string) => readonly NodeFile[] {
  const rendered = new Map<string, { readonly seen: readonly unknown[]; readonly files: readonly NodeFile[] }>();
  return (fleet, node) => {
    const seen = seenFrom(fleet, node);
    const last = rendered.get(node);
    if (last?.seen.length === seen.length && seen.every((one, at) => one === last.seen[at])) return last.files;
    const files = nodeFiles(fleet, node);
    rendered.set(node, { seen, files });
    return files;
  };
}

/**
 * Every file of this node's root that depends on the state of the fleet, sorted by path; empty for a name that is not
 * in the fleet. The host writes them whenever the state changes and removes those that are gone.
 */
export function nodeFiles(fleet: SimulatedFleet, node: string): readonly NodeFile[] {
  const mac = macBehind(fleet, node);
  if (mac === undefined) return [];
  const room = mac.ailments.diskRoomBytes;
  const files = [
    dataFile(accountsPath, accountsText(mac.directory)),
    dataFile('/.sim/sudo', `${mac.sudo}\n`),
    dataFile('/.sim/password', `${mac.password}\n`),
    dataFile('/.sim/clock-offset', `${mac.clockOffsetSeconds}\n`),
    dataFile(preferencesPath, networkPreferences(mac)),
    dataFile(seenCopy({ kind: 'node-path', path: preferencesPath }), networkPreferences(mac)),
    ...domainFiles(mac),
    dataFile(screenSharingPath, plistText(screenSharingJob)),
    ...(room === undefined ? [] : [dataFile('/.sim/room', `${room}\n`)]),
    ...(mac.ailments.lacksDomains ? [dataFile('/.sim/verbs', noDomains)] : []),
    ...(mac.ailments.panicsUnderTcp ? [dataFile('/.sim/tcp-panics', '')] : []),
    ...rdmaKernelFiles(mac),
    dataFile(rdmaCablesPath, rdmaCablesText({ fleet, mac })),
    ...panicReportFiles(mac),
    dataFile(routesPath, routesText({ fleet, mac })),
    ...tools.flatMap((tool) => toolFiles(tool, { fleet, mac })),
  ];
  return files.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}
