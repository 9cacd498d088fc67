import { accessSync, constants } from 'node:fs';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { type NodeFile, toolFile } from '../../model/node-files.ts';
import { archiveTools, diskImageTools } from './archives.ts';
import { fileTools } from './files.ts';
import { networkTools } from './network.ts';
import { plainTools } from './plain.ts';
import { processTools } from './processes.ts';
import { sudoTools, systemTools } from './system.ts';
import { textTools } from './texts.ts';
import { type BaseTool, wrapperText } from './wrapper.ts';

/** Every wrapper there is, sorted by path. */
export const baseTools: readonly BaseTool[] = [
  ...archiveTools,
  ...diskImageTools,
  ...fileTools,
  ...networkTools,
  ...plainTools,
  ...processTools,
  ...sudoTools,
  ...systemTools,
  ...textTools,
].sort((a, b) => (a.path < b.path ? -1 : 1));

/** Programs of the machine that stand in the node's root as they are: a link, without a check of arguments. */
export const linkedTools: readonly { readonly path: string; readonly name: string }[] = [
  { path: '/bin/sh', name: 'sh' },
  { path: '/usr/bin/perl', name: 'perl' },
];

const hostFolders = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where the machine below the simulator has this program; undefined when it has none. */
export const hostTool = (name: string): string | undefined =>
  hostFolders.map((folder) => `${folder}/${name}`).find(isExecutable);

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The wrappers for this user; a tool that the machine itself lacks is left out and ends with 127, like every unknown one. */
export function baseToolFiles(user: string, platform: NodeJS.Platform): readonly NodeFile[] {
  return baseTools.flatMap((tool) => {
    const host = tool.host === 'none' ? '' : hostTool(tool.host ?? nameOf(tool.path));
    if (host === undefined) return [];
    return [toolFile(tool.path, wrapperText(tool, { host, isBsd: platform === 'darwin', user }))];
  });
}

/** Every program of this machine that a simulated Mac may call, by name, sorted. */
function requiredNames(): readonly string[] {
  const wrapped = baseTools.map(({ host, path }) => host ?? path.slice(path.lastIndexOf('/') + 1));
  const names = [...wrapped, ...linkedTools.map(({ name }) => name)];
  return [...new Set(names.filter((name) => name !== 'none'))].sort();
}

/**
 * Ends well only where every program is there that simulated Macs are made of.
 *
 * @param find gives the path of a program, or undefined
 * @throws FleetError `sim/missing-programs`, with their names
 */
export function requirePrograms(find: (name: string) => string | undefined = hostTool): void {
  const missing = requiredNames().filter((name) => find(name) === undefined);
  if (missing.length === 0) return;
  throw new FleetError([diagnose('sim/missing-programs', { detail: `Not found: ${missing.join(', ')}.` })]);
}
