import { readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { accountsPath } from '../../model/directory.ts';
import type { ConnectionState } from '../../model/fleet.ts';
import { dataFile, type NodeFile, programsPath, toolFile } from '../../model/node-files.ts';
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
import type { FleetModel, NodeView } from '../fleet-model.ts';
import { createNodeRoot } from '../node-root.ts';
import { isSameProcess, processStart, sweepMarked } from '../processes.ts';
import type { ExecRecord } from '../records.ts';
import { loadNodeKeys, type NodeKeys, shownKey } from '../ssh/host-keys.ts';
import { prebootBanner, unlockedText } from '../ssh/ssh-server.ts';
import { agentFile, type Ground, openGround, runProgram, startBoot, startForwarder } from './ground.ts';
import { buildLowerRoot, nodeTools } from './lower-root.ts';
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
  readonly forwarder: Awaited<ReturnType<typeof startForwarder>>;
  readonly network: Awaited<ReturnType<typeof openNetwork>>;
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
  let processes: Awaited<ReturnType<typeof startBoot>> | undefined;
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

/** The disk of a node as this process reaches it. */
async function prepareDisk(disk: string, { folder, userKey }: HostRun, { name, user }: HostedNode) {
  const files = await createNodeRoot({
    root: disk,
    user,
    userKey: userKey.publicText,
    owner: { userId, groupId },
    baseFiles: [...nodeTools(user), agentFile],
    isKept: true,
  });
  for (const path of ['/.sim/unknown', '/.sim/urls', '/.sim/sshd.log', '/.sim/socket']) {
    await appendFile(disk + path, '');
    await chmod(disk + path, 0o666);
  }
  await mkdir(disk + execsPath, { recursive: true });
  await chmod(disk + execsPath, 0o1777);
  await mkdir(`${disk}/.sim/sshd`, { recursive: true });
  const keys = await loadNodeKeys(folder, name);
  for (const key of ['own', 'other', 'preboot'] as const) {
    await writeFile(disk + hostKeyPath(key), keys[key].privateText, { mode: 0o600 });
  }
  return { files, keys };
}

/** The rendered files, and those that only a node with a real sshd and a real sudo has. */
async function filesOf(view: NodeView, { name, user }: HostedNode, mark: string): Promise<readonly NodeFile[]> {
  const textOf = (path: string): string => view.files.find((file) => file.path === path)?.text ?? '';
  const sudo = textOf('/.sim/sudo').trim() || 'allowed';
  const others = otherAccounts(textOf(accountsPath), user);
  return [
    ...view.files.map(callingPrograms),
    dataFile('/private/etc/hosts', `127.0.0.1 localhost ${name}\n`),
    ...accountFiles(user, sudo !== 'denied', await passwordHash(view.account.password), others),
    ...sshdFiles(view.connection, mark),
  ];
}

const hashes = new Map<string, Promise<string>>();

/** The hash of a password as the shadow file of a Linux has it: SHA-512, made by the crypt(3) of this machine. */
function passwordHash(password: string): Promise<string> {
  const made = hashes.get(password) ?? runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}

/** What rendered tools call of the tools around them. */
const called = /\/(?:usr\/)?bin\/(awk|cat|cmp)(?= )/g;

const renderedTools = new WeakMap<NodeFile, NodeFile>();

/**
 * A rendered tool that calls the programs below by themselves: a wrapper judges what a client types, and would be two
 * more processes for every answer.
 */
function callingPrograms(file: NodeFile): NodeFile {
  if (!file.isExecutable) return file;
  const made = renderedTools.get(file) ?? {
    ...file,
    text: file.text.replaceAll(called, `${programsPath}/$1`),
  };
  renderedTools.set(file, made);
  return made;
}

/** The account of the ssh user, as macOS numbers the first one that is made on a Mac. */
const userId = 501;
/** Its group: `staff`. */
const groupId = 20;

const privilegeUser = 'sshd:*:75:75:sshd Privilege separation:/var/empty:/usr/bin/false';

/** sudo on a Mac keeps these of what the caller exported; everything else is gone. */
const kept = 'HOME LANG LC_ALL LC_CTYPE TZ TERM';

const sudoers = `Defaults env_reset, env_keep += "${kept}", !requiretty, !use_pty
Defaults secure_path = "/usr/bin:/bin:/usr/sbin:/sbin"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
#includedir /private/etc/sudoers.d
`;

/** Accounts of the model, as `accountsText` writes them, but those that every node has here: they log in nowhere. Numbers below zero do not exist on Linux. */
function otherAccounts(accounts: string, user: string) {
  const known = ['0', String(userId), '75'];
  const others = accounts
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([name = '', uid = '', gid = '', group = '']) =>
      name === user || known.includes(uid) || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)
        ? []
        : [{ name, uid, gid, group }],
    );
  const groups = others.filter(({ gid }) => !['0', String(groupId), '75', '80'].includes(gid));
  return {
    users: others.map(({ name, uid, gid }) => `${name}:*:${uid}:${gid}:${name}:/var/empty:/usr/bin/false\n`).join(''),
    groups: groups.map(({ gid, group }) => `${group}:*:${gid}:\n`).join(''),
  };
}

/** Accounts of one node, the hash of the user's password, and what sudo does there beside the rules in its folder. */
function accountFiles(
  user: string,
  isAdmin: boolean,
  hash: string,
  others: ReturnType<typeof otherAccounts>,
): readonly NodeFile[] {
  return [
    dataFile(
      '/private/etc/passwd',
      `root:*:0:0:System Administrator:/var/root:/bin/sh\n${privilegeUser}\n${user}:x:${userId}:${groupId}:${user}:/Users/${user}:/bin/sh\n${others.users}`,
    ),
    dataFile('/private/etc/shadow', `root:*:1:0:99999:7:::\nsshd:*:1:0:99999:7:::\n${user}:${hash}:1:0:99999:7:::\n`),
    dataFile(
      '/private/etc/group',
      `wheel:*:0:root\nstaff:*:${groupId}:root\nsshd:*:75:\nadmin:*:80:${isAdmin ? user : ''}\n${others.groups}`,
    ),
    dataFile('/private/etc/sudoers', sudoers),
  ];
}

/**
 * Every command that the sshd of a node was asked for, as its files tell it, by time: how it ended is known to sshd
 * and the client alone.
 */
function readExecs(disk: string, node: string): readonly ExecRecord[] {
  const folder = disk + execsPath;
  return readdirSync(folder)
    .map((name): ExecRecord => {
      const path = join(folder, name);
      const { mtimeMs } = statSync(path);
      const command = readFileSync(path, 'utf8');
      return { node, command, atEpochMs: mtimeMs, client: '', connection: 0, outputBytes: 0, objections: [] };
    })
    .sort((one, other) => one.atEpochMs - other.atEpochMs);
}

/** Where the host keys of a node lie, which only root may read. */
const hostKeyPath = (key: keyof NodeKeys): string => `/.sim/sshd/${key}`;

/** Every command of a client, one file each. */
const execsPath = '/.sim/execs';

const banner = '/.sim/sshd/banner';

/** What the sshd of macOS and that of Debian have in common, and what macOS says differently. */
const always = (key: keyof NodeKeys): readonly string[] => [
  `HostKey ${hostKeyPath(key)}`,
  'PidFile none',
  'LogLevel ERROR',
  'UsePAM no',
  'PrintMotd no',
  'PrintLastLog no',
  'AcceptEnv LANG LC_*',
  'AuthorizedKeysFile .ssh/authorized_keys',
  'PasswordAuthentication yes',
  'KbdInteractiveAuthentication no',
];

/** @see apple_ssh_and_filevault(7): password only, no keys */
const locked = ['PubkeyAuthentication no', `Banner ${banner}`, 'ForceCommand exec /.sim/preboot'];

/** A login here has given the right password: the simulator hears of it and starts macOS. */
const prebootText = `#!/bin/sh
printf '%s' '${unlockedText}'
/usr/bin/perl /.sim/ask / note unlock >/dev/null 2>&1
`;

const unlocked = (mark: string): readonly string[] => [
  'PubkeyAuthentication yes',
  `SetEnv PATH=/usr/bin:/bin:/usr/sbin:/sbin MW_SIM=${mark}`,
  'ForceCommand exec /.sim/exec',
];

/** Takes down what the client asked for, then becomes it. */
const execText = `#!/bin/sh
c=$SSH_ORIGINAL_COMMAND
unset SSH_ORIGINAL_COMMAND
printf '%s' "$c" >${execsPath}/$$
exec /bin/sh -c "$c"
`;

/** How the sshd of a node answers from now on; every connection starts one that reads it anew. */
function sshdFiles(state: ConnectionState, mark: string): readonly NodeFile[] {
  const isLocked = state.filevault === 'preboot';
  const more = isLocked ? locked : unlocked(mark);
  return [
    dataFile('/.sim/sshd/config', [...always(shownKey(state)), ...more, ''].join('\n')),
    dataFile(banner, prebootBanner),
    dataFile('/.sim/mark', `${mark}\n`),
    toolFile('/.sim/exec', execText),
    toolFile('/.sim/preboot', prebootText),
  ];
}
