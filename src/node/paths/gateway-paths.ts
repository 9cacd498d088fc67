import type { NodePath } from '../../model/node-path.ts';
import { below, place } from './node-paths.ts';

/** A doorman is known by its port: at one port of a node there is one. */
const labelStart = 'dev.meshwright.doorman.';

/** The launchd label of the doorman at a port. */
export const doormanLabel = (port: number | '*'): string => `${labelStart}${port}`;

/** Where a doorman tells its own node who is behind it. */
export const doormanStatusUrl = (port: number | '$q'): string => `http://127.0.0.1:${port}/doorman/status`;

/** How that answer begins; nobody else who may listen there begins so. */
export const doormanStatusStart = '{"formatVersion":1,"strangers":';

/** The port in the label of a doorman; undefined for any other label. */
export function doormanPort(label: string): number | undefined {
  const digits = label.startsWith(labelStart) ? label.slice(labelStart.length) : '';
  return /^\d{1,5}$/.test(digits) ? Number(digits) : undefined;
}

/** Its property list. */
export const doormanPlist = (port: number): NodePath => below(place.launchDaemons, `${doormanLabel(port)}.plist`);

/** Where all doormen of a node have their files. */
export const doormenFolder: NodePath = below(place.ours, 'doorman');

/** Everything else of it but its program and its log. */
export const doormanFolder = (port: number): NodePath => below(doormenFolder, String(port));

/** What it is told. */
export const doormanConfig = (port: number): NodePath => below(doormanFolder(port), 'config.json');

/** Holds a file for each placement with the hashes of its keys. */
export const keysFolder = (port: number): NodePath => below(doormanFolder(port), 'keys');

/** The hashes of the keys of a placement. */
export const doormanKeysFile = (port: number, placement: string): NodePath => below(keysFolder(port), placement);

/** Holds a file for each placement that is closed. */
export const closedFolder = (port: number): NodePath => below(doormanFolder(port), 'closed');

/** Keeps a placement closed as long as it lies there; its first line is the reason. */
export const closedFile = (port: number, placement: string): NodePath => below(closedFolder(port), placement);

/** The one folder in which the doorman itself writes. */
export const countsFolder = (port: number): NodePath => below(doormanFolder(port), 'counts');

/** What it has counted. */
export const countsFile = (port: number): NodePath => below(countsFolder(port), 'counts.json');

/** What it says about itself; nothing of any request. No name of a placement has a dot. */
export const doormanLog = (port: number): NodePath => below(place.log, `doorman.${port}.log`);
