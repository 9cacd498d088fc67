import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import type { Wiring } from '../../model/wiring.ts';
import { hostTool } from '../base-tools/all-base-tools.ts';
import { chooseSocketPath, removeSocket } from '../control/control.ts';
import { type RunningFleet, type StartFleetOptions, startFleetOn } from '../control/start-fleet.ts';
import type { FleetHost, HostRun } from '../fleet-host.ts';
import type { FleetModel } from '../fleet-model.ts';
import { isSameProcess, processStart, sweepMarked } from '../processes.ts';
import { type Ground, openGround, runProgram, startForwarder } from './ground.ts';
import { buildLowerRoot, programNames } from './lower-root.ts';
import { createNamespaceNode } from './namespace-node.ts';
import { openNetwork } from './network.ts';

/**
 * Brings up every node of a model in namespaces of its own: the same fleet as that of the portable host, with real
 * processes, real networks and a real sshd. The model has to say how its Macs are wired.
 *
 * @param builtLower what all its Macs have in common, where it was built for several fleets
 * @throws FleetError `sim/no-namespaces`, `sim/run-folder`
 */
export const startNamespaceFleet = (options: StartFleetOptions, builtLower?: string): Promise<RunningFleet> =>
  startFleetOn(namespaceHost(options.model, builtLower), options);

const ownerName = 'owner';

/** Ends what an earlier run in this folder has left, unless its process lives. */
async function sweepEarlier(folder: string): Promise<void> {
  const [runId = '', pid = '', start = ''] = (await readFile(join(folder, ownerName), 'utf8').catch(() => '')).split(
    ' ',
  );
  if (runId === '' || (await isSameProcess(Number(pid), start))) return;
  await sweepMarked(runId);
}

/**
 * Puts every disk together: what all nodes share below, what is the node's own above. A folder that is itself on an
 * overlay, as in a container, cannot be the upper half of another one: there each disk is a whole copy.
 */
async function mountDisks(
  ground: Ground,
  { folder, nodes }: HostRun,
  isKept: (node: string) => boolean,
): Promise<void> {
  for (const name of nodes) {
    if (!isKept(name)) await rm(join(folder, 'roots', name), { recursive: true, force: true });
    await rm(join(folder, 'work', name), { recursive: true, force: true });
    for (const kind of ['roots', 'work', 'mounts']) await mkdir(join(folder, kind, name), { recursive: true });
    await chmod(join(folder, 'roots', name), 0o755);
  }
  const mounts = nodes.map((name) => {
    const options = `lowerdir=lower,upperdir=roots/${name},workdir=work/${name}`;
    const copy = `cp -a lower/. roots/${name} && mount --bind roots/${name} mounts/${name}`;
    return `mount -t overlay overlay -o ${options} mounts/${name} 2>/dev/null || { ${copy}; }`;
  });
  await ground.run([`cd '${folder.replaceAll("'", "'\\''")}'`, ...mounts].join('\n'));
}

const wiringFrom =
  (model: FleetModel) =>
  (node: string): Wiring => {
    const { wiring } = model.look(node);
    if (wiring === undefined) throw new Error(`the model says nothing about the network of ${node}`);
    return wiring;
  };

/**
 * Runs on Linux, as root: every Mac has a process table, a network, users and a root of its own, a real sshd and a
 * real sudo. Everything of it hangs on the process that started it.
 *
 * @param builtLower what {@link buildLowerRoot} has built before, for many fleets; each builds its own when absent
 * @throws FleetError `sim/no-namespaces` where that is not to be had
 */
const namespaceHost = (model: FleetModel, builtLower?: string): FleetHost => ({
  open: async (run) => {
    await requireNamespaces();
    const { runId, folder, nodes: names, userKey, askPath } = run;
    await sweepEarlier(folder);
    await writeFile(join(folder, ownerName), `${runId} ${process.pid} ${(await processStart(process.pid)) ?? ''}`);
    const lower = join(folder, 'lower');
    await rm(lower, { recursive: true, force: true });
    const [ground] = await Promise.all([
      openGround(runId),
      builtLower === undefined ? buildLowerRoot(lower, hostTool, programNames) : symlink(builtLower, lower),
      // The ssh user of every node may speak to the simulator; the folder around it is closed to all others.
      chmod(askPath, 0o666),
    ]);
    const close = async (): Promise<void> => {
      await ground.close();
      for (const one of ['lower', 'work', 'mounts', 'pipes', ownerName]) {
        await rm(join(folder, one), { recursive: true, force: true });
      }
    };
    try {
      await mountDisks(ground, run, model.isKept);
      const network = await openNetwork(ground, names, wiringFrom(model));
      const dialPath = await chooseSocketPath(folder, 'dial.sock');
      // That of a simulator which was killed would be in the way.
      await rm(dialPath, { force: true });
      const forwarder = await startForwarder(ground, dialPath, `${runId}.forwarder`);
      const on = { runId, folder, userKey, askPath, ground, forwarder, network };
      return {
        createNode: (node) => createNamespaceNode(on, node),
        update: network.update,
        groupCount: () => 0,
        close: async () => {
          await forwarder.close();
          await removeSocket(dialPath);
          await close();
        },
      };
    } catch (error) {
      await close();
      throw error;
    }
  },
});

/** What this machine says of itself. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Undefined where there are no such numbers. */
  readonly userNumber: number | undefined;
  readonly find: (program: string) => string | undefined;
  /** Makes one of each namespace and leaves it. @throws Error when the kernel refuses */
  readonly unshare: () => Promise<unknown>;
}

/** Programs of this machine, beside those of every simulated Mac. */
const programs = [
  'ip',
  'ldd',
  'mount',
  'nsenter',
  'pivot_root',
  'setpriv',
  'sshd',
  'sudo',
  'tc',
  'umount',
  'unshare',
  'visudo',
];

const probe = ['--mount', '--net', '--uts', '--ipc', '--pid', '--fork', 'true'];

const thisMachine = (): Machine => ({
  platform: process.platform,
  userNumber: process.getuid?.(),
  find: hostTool,
  unshare: () => runProgram('unshare', probe),
});

/** What keeps a machine from running nodes in namespaces; undefined when nothing does. */
async function whyNot({ platform, userNumber, find, unshare }: Machine): Promise<string | undefined> {
  if (platform !== 'linux') return `This is ${platform}, and only Linux has the namespaces that are needed.`;
  if (userNumber !== 0) return 'Only root can make them.';
  const missing = programs.filter((name) => find(name) === undefined);
  if (missing.length > 0) return `Not found: ${missing.join(', ')}.`;
  return unshare().then(
    () => undefined,
    (error: unknown) => `The kernel refuses them: ${error instanceof Error ? error.message.trim() : String(error)}.`,
  );
}

/** Ends well only where nodes can run in namespaces. @throws FleetError `sim/no-namespaces` */
export async function requireNamespaces(machine: Machine = thisMachine()): Promise<void> {
  const detail = await whyNot(machine);
  if (detail !== undefined) throw new FleetError([diagnose('sim/no-namespaces', { detail })]);
}
