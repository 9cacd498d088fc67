import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { plistText } from '../../model/plist.ts';
import type { SimulatedNode } from '../fleet-host.ts';

/** exo's network daemon in launchd. @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift */
export const networkDaemonLabel = 'io.exo.networksetup';

const plistPath = `/Library/LaunchDaemons/${networkDaemonLabel}.plist`;
const scriptPath = '/Library/Application Support/EXO/disable_bridge.sh';

/** The daemon's property list, as installed by exo: launchd runs the daemon at each boot and every 1786 s. */
const plist = plistText({
  Label: networkDaemonLabel,
  ProgramArguments: [scriptPath],
  RunAtLoad: true,
  StartInterval: 1786,
});

/** The effect is in the model, so that clearing the fault also removes it. */
const script = `#!/bin/sh
r=\${0%'${scriptPath}'}
exec "$r/.sim/ask" / note daemon-run
`;

async function install({ disk, launchd }: SimulatedNode): Promise<void> {
  await mkdir(dirname(join(disk, scriptPath)), { recursive: true });
  await writeFile(join(disk, plistPath), plist, { mode: 0o644 });
  await writeFile(join(disk, scriptPath), script);
  await chmod(join(disk, scriptPath), 0o755);
  await launchd.launchctl({ args: ['enable', `system/${networkDaemonLabel}`], isRoot: true });
  await launchd.launchctl({ args: ['bootstrap', 'system', plistPath], isRoot: true });
}

async function uninstall({ disk, launchd }: SimulatedNode): Promise<void> {
  await launchd.launchctl({ args: ['bootout', `system/${networkDaemonLabel}`], isRoot: true });
  await launchd.launchctl({ args: ['enable', `system/${networkDaemonLabel}`], isRoot: true });
  await rm(join(disk, plistPath), { force: true });
  await rm(dirname(join(disk, scriptPath)), { recursive: true, force: true });
}

/**
 * Installs exo's daemon on Macs that have it in the model, and removes it from all others. A daemon that a person
 * stopped remains stopped. Each call of the returned function does this for one node.
 */
export function createDaemonFollower() {
  const present = new Map<string, 'fights' | 'stopped' | undefined>();
  return async (node: SimulatedNode): Promise<void> => {
    const { networkDaemon } = node.view().ailments;
    if (networkDaemon === present.get(node.name) || node.life.power() !== 'up') return;
    present.set(node.name, networkDaemon);
    if (networkDaemon === 'fights') await install(node);
    if (networkDaemon === undefined) await uninstall(node);
  };
}
