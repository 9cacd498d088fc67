import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import type { Wiring } from '../../model/wiring.ts';
import { hostTool } from '../base-tools/all-base-tools.ts';
import { chooseSocketPath, removeSocket } from '../control/control.ts';
import { type RunningFleet, type StartFleetOptions, startFleetOn } from '../control/start-fleet.ts';
import {
  createNode,
  type FleetHost,
  type HostedNode,
  type HostRun,
  type OpenHost,
  type SimulatedNode,
} from '../fleet-host.ts';
import type { FleetModel } from '../fleet-model.ts';
import { isSameProcess, processStart, sweepMarked } from '../processes.ts';
import { type Boot, startBoot } from './boot.ts';
import { filesOf, prepareDisk, readExecs } from './disk.ts';
import { type Forwarder, type Ground, openGround, runProgram, startForwarder } from './ground.ts';
import { buildLowerRoot } from './lower-root.ts';
import { type NodeNetwork, openNetwork } from './network.ts';

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

function wiringFrom(model: FleetModel, node: string): Wiring {
  const { wiring } = model.look(node);
  if (wiring === undefined) throw new Error(`the model says nothing about the network of ${node}`);
  return wiring;
}

/**
 * Runs on Linux, as root: every Mac has a process table, a network, users and a root of its own, a real sshd and a
 * real sudo. Everything of it hangs on the process that started it.
 *
 * @param builtLower what {@link buildLowerRoot} has built before, for many fleets; each builds its own when absent
 * @throws FleetError `sim/no-namespaces` where that is not to be had
 */
const namespaceHost = (model: FleetModel, builtLower?: string): FleetHost<OpenHost> => ({
  open: async (run) => {
    await requireNamespaces();
    const { runId, folder, nodes: names, askPath } = run;
    await sweepEarlier(folder);
    await writeFile(join(folder, ownerName), `${runId} ${process.pid} ${(await processStart(process.pid)) ?? ''}`);
    const lower = join(folder, 'lower');
    await rm(lower, { recursive: true, force: true });
    const [ground] = await Promise.all([
      openGround(runId),
      builtLower === undefined ? buildLowerRoot(lower) : symlink(builtLower, lower),
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
      const network = await openNetwork(ground, names, (node) => wiringFrom(model, node));
      const dialPath = await chooseSocketPath(folder, 'dial.sock');
      // That of a simulator which was killed would be in the way.
      await rm(dialPath, { force: true });
      const forwarder = await startForwarder(ground, dialPath, `${runId}.forwarder`);
      return {
        createNode: (node) => createNamespaceNode({ ...run, ground, forwarder, network }, node),
        update: network.update,
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

/** What all nodes of a fleet stand on. */
interface NodeGround extends HostRun {
  readonly ground: Ground;
  readonly forwarder: Forwarder;
  readonly network: NodeNetwork;
}

/** Joins a client with the node; bytes of the node go out by `write` alone, so that they can be counted and cut. */
function relay(client: Socket, node: Socket): void {
  node.on('data', (chunk: Buffer) => {
    client.write(chunk);
    if (client.writableLength > 0) node.pause();
  });
  client.on('drain', () => node.resume());
  node.once('end', () => client.end());
  node.once('close', () => client.destroySoon());
  client.pipe(node);
  client.once('close', () => node.destroy());
}

/** Puts one node on its disk, into its network and behind its door; its first boot begins with that. */
async function createNamespaceNode(on: NodeGround, options: HostedNode): Promise<SimulatedNode> {
  const { ground, folder, askPath, forwarder, network, runId } = on;
  const { name } = options;
  // Where the disk is mounted, as the ground sees it.
  const root = join(folder, 'mounts', name);
  const disk = `/proc/${ground.pid}/root${root}`;
  const { files, keys } = await prepareDisk(disk, on, options);
  const own = join(folder, 'pipes', name);
  let processes: Boot | undefined;
  return createNode(options, {
    ...{ runId, disk, root: '', files, keys },
    startJob: (mark) => (job, onEnd) => processes?.startJob(job, mark(), onEnd),
    // Addresses are real here: nobody has to know them before.
    beforeLoad: () => Promise.resolve(),
    filesOf: (view, mark) => filesOf(view, options, mark),
    // Behind the door is the sshd of the node, whose own port 22 opens and shuts with it.
    serverOf: () => ({
      serve: (client) => relay(client, forwarder.dial(network.addressOf(name), 22)),
      allowHalfOpen: true,
      setInside: (isOpen) => processes?.setDoor(isOpen),
    }),
    execs: () => readExecs(disk, name),
    startProcesses: async (mark) => {
      await mkdir(own, { recursive: true, mode: 0o700 });
      processes = await startBoot({ ground, name, root, askPath, folder: own, mark });
      await network.setPower(name, true);
    },
    endProcesses: async () => {
      await processes?.end();
      processes = undefined;
      await network.setPower(name, false);
    },
    fallSilent: () => network.setPower(name, false),
    close: async () => processes?.end(),
  });
}

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
const programs = 'ip ldd mount nsenter pivot_root setpriv sshd sudo tc umount unshare visudo'.split(' ');

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
