import { accessSync, constants } from 'node:fs';
import { basename } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { type NodeFile, toolFile } from '../../model/node-files.ts';
import { from } from '../../tools/tool.ts';
import { archiveTools } from './archives.ts';
import { fileTools } from './files.ts';
import { networkTools } from './network.ts';
import { processTools } from './processes.ts';
import { systemTools } from './system.ts';
import { textTools } from './texts.ts';
import { type BaseTool, wrapperText } from './wrapper.ts';

/** Every wrapper there is, sorted by path. */
export const baseTools: readonly BaseTool[] = [
  ...archiveTools,
  ...fileTools,
  ...networkTools,
  ...processTools,
  ...systemTools,
  ...textTools,
]
  .map((row) => ({
    source: from.apple(`${basename(row.path)}(1) of macOS`),
    host: basename(row.path),
    code: 1,
    ...row,
  }))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

/** Programs of the machine that stand in the node's root as they are: a link, without a check of arguments. */
export const linkedTools: readonly string[] = ['/bin/sh', '/usr/bin/perl'];

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

/** The wrappers for this user; a tool that the machine itself lacks is left out and ends with 127, like every unknown one. */
export function baseToolFiles(user: string): readonly NodeFile[] {
  return baseTools.flatMap((tool) => {
    const host = tool.host === 'none' ? '' : hostTool(tool.host);
    if (host === undefined) return [];
    return [toolFile(tool.path, wrapperText(tool, { host, isBsd: process.platform === 'darwin', user }))];
  });
}

/**
 * Ends well only where every program is there that simulated Macs are made of.
 *
 * @param find gives the path of a program, or undefined
 * @throws FleetError `sim/missing-programs`, with their names
 */
export function requirePrograms(find: (name: string) => string | undefined = hostTool): void {
  const names = new Set([...baseTools.map(({ host }) => host), ...linkedTools.map((path) => basename(path))]);
  const missing = [...names].filter((name) => name !== 'none' && find(name) === undefined).sort();
  if (missing.length === 0) return;
  throw new FleetError([diagnose('sim/missing-programs', { detail: `Not found: ${missing.join(', ')}.` })]);
}
