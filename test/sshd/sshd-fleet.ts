import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRun, writeRunFile } from '../../src/sim/hosts/control/run-folder.ts';
import { writeForcedCommand } from './forced-command.ts';
import { type Sshd, startSshd } from './start-sshd.ts';

/** OpenSSH servers in front of the Macs of a simulated fleet. */
export interface SshdFleet {
  readonly nodes: readonly string[];
  /** Every command that the node's sshd received, byte for byte, in order. */
  readonly commands: (node: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts one sshd in front of every Mac that `sim up` started; from then on, `--sim` connects to these servers.
 *
 * @param simFolder of the fleet, with its run file
 * @param folder for the scripts and records of the servers
 */
export async function serveBySshd(simFolder: string, folder: string): Promise<SshdFleet> {
  const state = await readRun(simFolder);
  if (state.kind !== 'live') throw new Error(`no simulated fleet runs in ${simFolder}`);
  const { run } = state;
  const userKey = (await readFile(`${run.userKeyFile}.pub`, 'utf8')).trim();
  const recordOf = (node: string): string => join(folder, `${node}.commands`);
  const start = async (node: string): Promise<readonly [string, Sshd]> => {
    const script = join(folder, `${node}.forced`);
    const { root = '', user = '' } = run.nodes[node] ?? {};
    await writeFile(recordOf(node), '');
    await writeForcedCommand(script, { root, user, record: recordOf(node) });
    return [node, await startSshd({ userKeys: [userKey], config: [`ForceCommand ${script}`] })];
  };
  const servers = await Promise.all(Object.keys(run.nodes).map(start));
  const nodes = servers.map(([name, { port, user, hostKey }]) => {
    const { root = '' } = run.nodes[name] ?? {};
    return [name, { port, user, root, hostKey: `${hostKey.type} ${hostKey.base64}` }] as const;
  });
  await writeRunFile(simFolder, { ...run, nodes: Object.fromEntries(nodes) });
  return {
    nodes: servers.map(([name]) => name),
    commands: async (node) => (await readFile(recordOf(node), 'utf8')).split('\0').slice(0, -1),
    stop: async () => {
      await Promise.all(servers.map(([, server]) => server.stop()));
    },
  };
}
