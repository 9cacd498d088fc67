import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { JobDefinition } from '../../launchd/job-definition.ts';
import { accountsPath } from '../../model/directory.ts';
import { type NodeFile, toolFile } from '../../model/node-files.ts';
import { askProgram } from '../ask-client.ts';
import type { HostedNode, SimulatedNode } from '../fleet-host.ts';
import type { NodeView } from '../fleet-model.ts';
import { createLaunchd } from '../launchd.ts';
import { createNodeLife, type NodeLife, writeBootFile } from '../node-life.ts';
import { createNodeRoot } from '../node-root.ts';
import { createRecords, type NodeRecords } from '../records.ts';
import { type KeyFile, loadNodeKeys } from '../ssh/host-keys.ts';
import { openSshDoor, type SshDoor } from '../ssh/ssh-door.ts';
import { homeOf } from '../ssh/ssh-user.ts';
import { agentProgram } from './agent-program.ts';
import { type AgentJob, type Boot, startBoot } from './boot.ts';
import { type Forwarder, type Ground, runProgram } from './ground.ts';
import { accountFiles, callingPrograms, groupId, nodeTools, userId } from './lower-root.ts';
import type { NodeNetwork } from './network.ts';
import { execsPath, hostKeyPath, readExecs, sshdFiles } from './sshd-files.ts';

/** What all nodes of a fleet stand on. */
interface NodeGround {
  readonly runId: string;
  /** Of the run. */
  readonly folder: string;
  readonly userKey: KeyFile;
  readonly askPath: string;
  readonly ground: Ground;
  readonly forwarder: Forwarder;
  readonly network: NodeNetwork;
}

/** Where the disk of a node is mounted, as its ground sees it. */
const mountPath = (folder: string, name: string): string => join(folder, 'mounts', name);

/** launchd writes what nobody wants into nothing. */
const nowhere = '/dev/null';

/** What launchd gives a daemon on a Mac, and nothing else. */
function agentJob(job: JobDefinition, mark: string): AgentJob {
  const user = job.userName === 'root' ? undefined : job.userName;
  return {
    program: job.program,
    words: job.words,
    environment: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      XPC_FLAGS: '0x0',
      XPC_SERVICE_NAME: job.label,
      ...(user !== undefined && { USER: user, LOGNAME: user, HOME: homeOf('', user), SHELL: '/bin/sh' }),
      ...job.environment,
      MW_SIM: mark,
    },
    folder: job.workingDirectory ?? '/',
    out: job.standardOutPath ?? nowhere,
    err: job.standardErrorPath ?? nowhere,
    ...(user !== undefined && { user }),
    abandonsGroup: job.abandonsGroup,
  };
}

/** Files that depend on the model and that only a node with a real sshd and a real sudo has. */
function realFiles(
  view: NodeView,
  { name, user }: HostedNode,
  { mark, hash }: { readonly mark: string; readonly hash: string },
): readonly NodeFile[] {
  const textOf = (path: string): string => view.files.find((file) => file.path === path)?.text ?? '';
  const sudo = textOf('/.sim/sudo').trim() || 'allowed';
  return [
    ...accountFiles({ name, user, sudo, hash, accounts: textOf(accountsPath) }),
    ...sshdFiles(view.connection, mark),
  ];
}

/** The disk of a node as this process reaches it. */
async function prepareDisk({ folder, ground, userKey }: NodeGround, { name, user }: HostedNode) {
  const disk = `/proc/${ground.pid}/root${mountPath(folder, name)}`;
  const base = [...nodeTools(user), toolFile('/.sim/agent', agentProgram)];
  const files = await createNodeRoot({
    root: disk,
    user,
    userKey: userKey.publicText,
    platform: 'linux',
    askText: askProgram,
    owner: { userId, groupId },
    baseFiles: base,
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
  return { disk, files, hostKey: keys.own.publicText, prebootKey: keys.preboot.publicText };
}

/** What changes about a node while it is there. */
interface Present {
  view: NodeView;
  boot: number;
  processes: Boot | undefined;
  isAsleep: boolean;
}

/** A node on its disk, before anything of it runs. */
async function placeNode(on: NodeGround, options: HostedNode) {
  const { name } = options;
  const { disk, files, hostKey, prebootKey } = await prepareDisk(on, options);
  const view = options.look();
  const present: Present = { view, boot: view.bootCount, processes: undefined, isAsleep: true };
  const mark = (): string => `${on.runId}.${name}.${present.boot}`;
  const unknownFile = `${disk}/.sim/unknown`;
  const objectTo = (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`);
  const launchd = createLaunchd({
    root: disk,
    startJob: (job, onEnd) => present.processes?.startJob(agentJob(job, mark()), onEnd),
    scaledMs: options.scaledMs,
    intervalMs: options.intervalMs,
    objectTo: (line) => void objectTo(line).catch(() => undefined),
    // Addresses are real here: nobody has to know them before.
    beforeLoad: () => Promise.resolve(),
  });
  const render = async (): Promise<void> => {
    present.view = options.look();
    const hash = await passwordHash(present.view.account.password);
    const real = realFiles(present.view, options, { mark: mark(), hash });
    await files.update(
      [...present.view.files.map(callingPrograms), ...real],
      present.view.account.hasKey,
      present.view.mac,
    );
  };
  const unknown = async (): Promise<readonly string[]> =>
    (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== '');
  const { edited, isOfAnother } = files;
  return { disk, hostKey, prebootKey, present, mark, objectTo, launchd, render, unknown, edited, isOfAnother };
}

type Placed = Awaited<ReturnType<typeof placeNode>>;

/** How the processes of a node come and go, its current with them. */
function bootsOf({ ground, folder, askPath, network }: NodeGround, name: string, { present, mark }: Placed) {
  return {
    startProcesses: async (): Promise<void> => {
      const own = join(folder, 'pipes', name);
      await mkdir(own, { recursive: true, mode: 0o700 });
      const root = mountPath(folder, name);
      present.processes = await startBoot({ ground, name, root, askPath, folder: own, mark: mark() });
      await network.setPower(name, true);
    },
    endProcesses: async (): Promise<void> => {
      await present.processes?.end();
      present.processes = undefined;
      await network.setPower(name, false);
    },
  };
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

/** The door, and behind it the sshd of the node, whose own port 22 opens and shuts with it. */
function openDoor(
  { forwarder, network }: NodeGround,
  { name, preferredPort }: HostedNode,
  { present }: Placed,
  records: NodeRecords,
): Promise<SshDoor> {
  return openSshDoor({
    serve: (client) => relay(client, forwarder.dial(network.addressOf(name), 22)),
    allowHalfOpen: true,
    setInside: (isOpen) => present.processes?.setDoor(isOpen),
    state: () => present.view.connection,
    records,
    ...(preferredPort !== undefined && { preferredPort }),
  });
}

function lifeOf(on: NodeGround, options: HostedNode, placed: Placed, door: SshDoor): NodeLife {
  const { name, scaledMs, startModel, unlockModel, note } = options;
  const { disk, launchd, objectTo, present, mark } = placed;
  return createNodeLife(
    {
      ...{ name, scaledMs, startModel, unlockModel, note, launchd, objectTo },
      ...bootsOf(on, name, placed),
      root: disk,
      door,
      // The link goes first, or the kernel of this machine would tell everybody that the connections are over.
      fallSilent: async () => {
        door.fallSilent();
        await on.network.setPower(name, false);
      },
      ailments: () => present.view.ailments,
    },
    mark,
  );
}

/** Puts one node on its disk, into its network and behind its door; its first boot begins with that. */
export async function createNamespaceNode(on: NodeGround, options: HostedNode): Promise<SimulatedNode> {
  const { name, user } = options;
  const placed = await placeNode(on, options);
  const { disk, hostKey, prebootKey, present, mark, objectTo, launchd, render, unknown, edited } = placed;
  const records = createRecords();
  await render();
  await writeBootFile(disk, mark());
  await bootsOf(on, name, placed).startProcesses();
  const door = await openDoor(on, options, placed, records);
  const life = lifeOf(on, options, placed, door);
  const execs = () => readExecs(disk + execsPath, name);
  return {
    ...{ name, disk, execs, unknown, launchd, life, mark, objectTo, edited },
    render: async () => {
      // The disk of a running Mac cannot be taken out.
      present.view = options.look();
      if (life.power() === 'up' && placed.isOfAnother(present.view.mac)) return;
      await render();
      await door.follow(life.power() === 'up');
    },
    isExchanged: () => placed.isOfAnother(present.view.mac),
    run: { port: door.port, hostKey, prebootKey, root: '', user },
    counts: () => ({ ...records.counts(), execs: execs().length, channels: execs().length }),
    view: () => present.view,
    reach: () => present.view.reach,
    boot: () => present.boot,
    begin: () => {
      present.boot = options.look().bootCount;
      present.isAsleep = true;
    },
    wake: async () => {
      const isLocked = present.view.connection.filevault === 'preboot';
      if (!present.isAsleep || life.power() === 'down' || isLocked) return;
      present.isAsleep = false;
      await launchd.boot();
    },
    isAwake: () => !present.isAsleep,
    close: async () => {
      launchd.close();
      await life.close();
      await present.processes?.end();
      await door.close();
    },
  };
}

const hashes = new Map<string, Promise<string>>();

/** The hash of a password as the shadow file of a Linux has it: SHA-512, made by the crypt(3) of this machine. */
function passwordHash(password: string): Promise<string> {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const made = runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}
