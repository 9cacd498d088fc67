import { readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { oncePer } from '../../../src/model/lists.ts';
import { hostTool } from '../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { chooseSocketPath, removeSocket } from '../../../src/sim/hosts/control/control.ts';
import { type RunningFleet, type StartFleetOptions, startFleetOn } from '../../../src/sim/hosts/control/start-fleet.ts';
import {
  createNode,
  type FleetHost,
  type HostedNode,
  type HostRun,
  type OpenHost,
  type SimulatedNode,
} from '../../../src/sim/hosts/fleet-host.ts';
import type { FleetModel, NodeView } from '../../../src/sim/hosts/fleet-model.ts';
import { createNodeRoot } from '../../../src/sim/hosts/node-root.ts';
import { isSameProcess, processStart, sweepMarked } from '../../../src/sim/hosts/processes.ts';
import type { ExecRecord } from '../../../src/sim/hosts/records.ts';
import { loadNodeKeys, type NodeKeys, shownKey } from '../../../src/sim/hosts/ssh/host-keys.ts';
import { prebootBanner, unlockedText } from '../../../src/sim/hosts/ssh/ssh-server.ts';
import { accountsPath } from '../../../src/sim/model/directory.ts';
import type { ConnectionState } from '../../../src/sim/model/fleet.ts';
import { dataFile, type NodeFile, programsPath, toolFile } from '../../../src/sim/model/node-files.ts';
import { verbsWirePath } from '../../../src/sim/model/rdma.ts';
import type { Wiring } from '../../../src/sim/model/wiring.ts';
import { agentFile, type Ground, openGround, runProgram, startBoot, startForwarder } from './ground.ts';
import { buildLowerRoot, nodeTools } from './lower-root.ts';
import { openNetwork } from './network.ts';

/**
 * Starts every node of a model in its own namespaces, with real processes, real networks and a real sshd. The model
 * must describe the wiring of its Macs.
 *
 * @param builtLower the shared part of the disks, if it was built for several fleets
 * @throws FleetError `sim/run-folder`; Error if this machine has no namespaces
 */
export const startNamespaceFleet = (options: StartFleetOptions, builtLower?: string): Promise<RunningFleet> =>
  startFleetOn(namespaceHost(options.model, builtLower), options);

const ownerName = 'owner';

/** Kills the remains of an earlier run in this folder, unless its process is still alive. */
async function sweepEarlier(folder: string): Promise<void> {
  const [runId = '', pid = '', start = ''] = (await readFile(join(folder, ownerName), 'utf8').catch(() => '')).split(
    ' ',
  );
  if (runId === '' || (await isSameProcess(Number(pid), start))) return;
  await sweepMarked(runId);
}

/**
 * Mounts every disk as an overlay: the shared part below, the node's own part above. A folder that is itself on an
 * overlay, as in a container, cannot be an upper layer; there each disk is a complete copy.
 */
async function mountDisks(
  ground: Ground,
  { folder, nodes }: HostRun,
  reusesDisk: (node: string) => boolean,
): Promise<void> {
  for (const name of nodes) {
    if (!reusesDisk(name)) await rm(join(folder, 'roots', name), { recursive: true, force: true });
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
  const { wiring } = model.viewOf(node);
  if (wiring === undefined) throw new Error(`the model has no network for ${node}`);
  return wiring;
}

/**
 * Runs on Linux, as root. Every Mac has its own process table, network, users and root, a real sshd and a real sudo.
 * All of them depend on the process that started them.
 *
 * @param builtLower the result of {@link buildLowerRoot}, for several fleets; absent: each fleet builds its own
 * @throws Error if this machine cannot do that
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
      // Gives the ssh users of all nodes access to the simulator; all other users have no access to the surrounding
      // folder.
      chmod(askPath, 0o666),
    ]);
    const close = async (): Promise<void> => {
      await ground.close();
      for (const one of ['lower', 'work', 'mounts', 'pipes', 'wire', ownerName]) {
        await rm(join(folder, one), { recursive: true, force: true });
      }
    };
    try {
      // The account at the other end of a cable may have a different number.
      await mkdir(join(folder, 'wire'), { recursive: true });
      await chmod(join(folder, 'wire'), 0o777);
      await mountDisks(ground, run, model.reusesDisk);
      const network = await openNetwork(ground, names, (node) => wiringFrom(model, node));
      const dialPath = await chooseSocketPath(folder, 'dial.sock');
      // A socket left by a killed simulator would prevent the start.
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

interface NodeGround extends HostRun {
  readonly ground: Ground;
  readonly forwarder: Awaited<ReturnType<typeof startForwarder>>;
  readonly network: Awaited<ReturnType<typeof openNetwork>>;
}

/** Connects a client with the node. The node's bytes go out only by `write`, so that they can be counted and cut. */
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

/** Mounts one node's disk, connects its network, opens its SSH port and boots it. */
async function createNamespaceNode(on: NodeGround, options: HostedNode): Promise<SimulatedNode> {
  const { ground, folder, askPath, forwarder, network, runId } = on;
  const { name } = options;
  // Mount point of the disk, in the mount namespace of the ground.
  const root = join(folder, 'mounts', name);
  const disk = `/proc/${ground.pid}/root${root}`;
  const { files, keys } = await prepareDisk(disk, on, options);
  const own = join(folder, 'pipes', name);
  let processes: Awaited<ReturnType<typeof startBoot>> | undefined;
  return createNode(options, {
    ...{ runId, disk, root: '', files, keys },
    startJob: (mark) => (job, onEnd) => processes?.startJob(job, mark(), onEnd),
    // Addresses are real here, so they need no preparation.
    beforeLoad: () => Promise.resolve(),
    filesOf: (view, mark) => filesOf(view, options, mark),
    // The SSH port leads to the node's sshd, whose port 22 opens and closes with it.
    serverOf: () => ({
      serve: (client) => relay(client, forwarder.dial(network.addressOf(name), 22)),
      allowHalfOpen: true,
      setInside: (isOpen) => processes?.setDoor(isOpen),
    }),
    execs: () => readExecs(disk, name),
    startProcesses: async (mark) => {
      await mkdir(own, { recursive: true, mode: 0o700 });
      processes = await startBoot({ ground, name, root, askPath, wire: join(folder, 'wire'), folder: own, mark });
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

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The number of the user; undefined on systems without user numbers. */
  readonly userNumber: number | undefined;
  readonly find: (program: string) => string | undefined;
  /** Creates one namespace of each kind and leaves it. @throws Error if the kernel refuses */
  readonly unshare: () => Promise<unknown>;
}

/** Programs of this machine, in addition to those that every simulated Mac needs. */
const programs = 'ip ldd mount nsenter pivot_root setpriv sshd sudo tc umount unshare visudo'.split(' ');

const probe = ['--mount', '--net', '--uts', '--ipc', '--pid', '--fork', 'true'];

const thisMachine = (): Machine => ({
  platform: process.platform,
  userNumber: process.getuid?.(),
  find: hostTool,
  unshare: () => runProgram('unshare', probe),
});

/** The reason why this machine cannot run nodes in namespaces; undefined if it can. */
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

/** Succeeds only if nodes can run in namespaces. @throws Error with the reason and a hint */
export async function requireNamespaces(machine: Machine = thisMachine()): Promise<void> {
  const detail = await whyNot(machine);
  if (detail === undefined) return;
  const hint = 'Run it as root on Linux: apt-get install iproute2 openssh-server sudo util-linux';
  throw new Error(`This computer cannot run simulated Macs in namespaces. ${detail} ${hint}`);
}

/** Prepares a node's disk, at its path for this process. */
async function prepareDisk(disk: string, { folder, userKey }: HostRun, { name, user }: HostedNode) {
  const files = await createNodeRoot({
    root: disk,
    user,
    userKey: userKey.publicText,
    owner: { userId, groupId },
    baseFiles: [...nodeTools(user), agentFile],
    reusesDisk: true,
  });
  for (const path of ['/.sim/unknown', '/.sim/urls', '/.sim/sshd.log', '/.sim/socket']) {
    await appendFile(disk + path, '');
    await chmod(disk + path, 0o666);
  }
  for (const path of [execsPath, verbsWirePath]) await mkdir(disk + path, { recursive: true });
  await chmod(disk + execsPath, 0o1777);
  await mkdir(`${disk}/.sim/sshd`, { recursive: true });
  const keys = await loadNodeKeys(folder, name);
  for (const key of ['own', 'other', 'preboot'] as const) {
    await writeFile(disk + hostKeyPath(key), keys[key].privateText, { mode: 0o600 });
  }
  return { files, keys };
}

/** The rendered files, and additional files for a real sshd and a real sudo. */
async function filesOf(view: NodeView, { name, user }: HostedNode, mark: string): Promise<readonly NodeFile[]> {
  const textOf = (path: string): string => view.files.find((file) => file.path === path)?.text ?? '';
  const sudo = textOf('/.sim/sudo').trim() || 'allowed';
  const others = otherAccounts(textOf(accountsPath), user);
  return [
    ...view.files.map(callingPrograms),
    dataFile('/private/etc/hosts', `127.0.0.1 localhost ${name}\n`),
    ...accountFiles(user, sudo !== 'denied', await passwordHash(view.password), others),
    ...sshdFiles(view.connection, mark),
  ];
}

const hashes = new Map<string, Promise<string>>();

/** A password's hash for Linux's shadow file: SHA-512, by this machine's crypt(3). */
function passwordHash(password: string): Promise<string> {
  const made = hashes.get(password) ?? runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}

/** Tools that rendered tools run. */
const called = /\/(?:usr\/)?bin\/(awk|cat|cmp)(?= )/g;

/**
 * Makes a rendered tool run this machine's programs directly. The wrappers only check clients' commands, and would add
 * two processes to every answer.
 */
const callingPrograms = oncePer((file: NodeFile) =>
  file.isExecutable ? { ...file, text: file.text.replaceAll(called, `${programsPath}/$1`) } : file,
);

/** The number that macOS gives the first account on a Mac. */
const userId = 501;
/** The group `staff`. */
const groupId = 20;

const privilegeUser = 'sshd:*:75:75:sshd Privilege separation:/var/empty:/usr/bin/false';

/** Variables that sudo on a Mac keeps from the caller's environment. */
const kept = 'HOME LANG LC_ALL LC_CTYPE TZ TERM';

const sudoers = `Defaults env_reset, env_keep += "${kept}", !requiretty, !use_pty
Defaults secure_path = "/usr/bin:/bin:/usr/sbin:/sbin"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
#includedir /private/etc/sudoers.d
`;

/**
 * Accounts of the model in the form of `accountsText`, without those that every node has. They cannot log in. Numbers
 * below zero do not exist on Linux.
 */
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

/** A node's accounts with the password's hash, and the sudo rules in addition to the folder of rules. */
function accountFiles(
  user: string,
  isAdmin: boolean,
  hash: string,
  others: ReturnType<typeof otherAccounts>,
): readonly NodeFile[] {
  return [
    dataFile(
      '/private/etc/passwd',
      `root:*:0:0:System Administrator:/var/root:/bin/sh\n${privilegeUser}\n${user}:x:${userId}:${groupId}:${user}:/Users/${user}:/.sim/exec\n${others.users}`,
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
 * Every command that a node's sshd received, by time, as recorded in the node's files. Exit codes are known only to
 * sshd and the client.
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

/** Folder of a node's host keys, which only root may read. */
const hostKeyPath = (key: keyof NodeKeys): string => `/.sim/sshd/${key}`;

/** One file per command of a client. */
const execsPath = '/.sim/execs';

const banner = '/.sim/sshd/banner';

/** Settings that make Debian's sshd behave like macOS's. */
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

const prebootCommand = 'exec /.sim/preboot';

/** @see apple_ssh_and_filevault(7): password only, no keys */
const locked = ['PubkeyAuthentication no', `Banner ${banner}`, `ForceCommand ${prebootCommand}`];

/** A login here means that the password was correct: it notifies the simulator, which boots macOS. */
const prebootText = `#!/bin/sh
printf '%s' '${unlockedText}'
/usr/bin/perl /.sim/ask / note unlock >/dev/null 2>&1
`;

const unlocked = (mark: string): readonly string[] => [
  'PubkeyAuthentication yes',
  `SetEnv PATH=/usr/bin:/bin:/usr/sbin:/sbin MW_SIM=${mark}`,
];

/**
 * The login shell: records the command, from the client or of its key, then executes it. sshd's ForceCommand would take
 * the place of a key's command.
 */
const execText = `#!/bin/sh
SHELL=/bin/sh
[ "\${2-}" = '${prebootCommand}' ] || printf '%s' "\${2-}" >${execsPath}/$$
exec /bin/sh -c "\${2-}"
`;

/** A node's sshd settings. Every connection starts an sshd that reads them again. */
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
