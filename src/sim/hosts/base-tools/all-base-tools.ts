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

const rows = [archiveTools, fileTools, networkTools, processTools, systemTools, textTools].flat();

/** All wrappers, sorted by path. */
export const baseTools: readonly BaseTool[] = rows
  .map((row) => {
    const name = basename(row.path);
    return { source: from.apple(`${name}(1) of macOS`), host: name, code: 1, ...row };
  })
  .sort((a, b) => (a.path < b.path ? -1 : 1));

/** Host programs to which the node's root links directly, without checking their arguments. */
export const linkedTools: readonly string[] = ['/bin/sh'];

const hostFolders = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of this program on the host machine; undefined if it is missing there. */
export const hostTool = (name: string): string | undefined =>
  hostFolders.map((folder) => `${folder}/${name}`).find(isExecutable);

/** The wrappers for this user. Tools that the host lacks are omitted: exit 127, as for every unknown command. */
export function baseToolFiles(user: string): readonly NodeFile[] {
  return baseTools.flatMap((tool) => {
    const host = tool.host === 'none' ? '' : hostTool(tool.host);
    if (host === undefined) return [];
    return [toolFile(tool.path, wrapperText(tool, { host, isBsd: process.platform === 'darwin', user }))];
  });
}

/**
 * Checks that this machine has all programs that simulated Macs need. Optional ones may be missing.
 *
 * @param find returns the path of a program, or undefined
 * @throws FleetError `sim/missing-programs`, with their names
 */
export function requirePrograms(find: (name: string) => string | undefined = hostTool): void {
  const needed = baseTools.filter(({ isOptional }) => isOptional !== true);
  const names = new Set([...needed.map(({ host }) => host), ...linkedTools.map((path) => basename(path))]);
  const missing = [...names].filter((name) => name !== 'none' && find(name) === undefined).sort();
  if (missing.length === 0) return;
  throw new FleetError([diagnose('sim/missing-programs', { detail: `Not found: ${missing.join(', ')}.` })]);
}
