import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { JobDefinition } from '../../launchd/job-definition.ts';
import { accountsPath } from '../../model/directory.ts';
import { type NodeFile, toolFile } from '../../model/node-files.ts';
import { askProgram } from '../ask-client.ts';
import { createNode, type HostedNode, type SimulatedNode } from '../fleet-host.ts';
import type { NodeView } from '../fleet-model.ts';
import { createNodeRoot } from '../node-root.ts';
import { type KeyFile, loadNodeKeys } from '../ssh/host-keys.ts';
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
  return { disk, files, keys };
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
export async function createNamespaceNode(on: NodeGround, options: HostedNode): Promise<SimulatedNode> {
  const { ground, folder, askPath, forwarder, network, runId } = on;
  const { name } = options;
  const { disk, files, keys } = await prepareDisk(on, options);
  const own = join(folder, 'pipes', name);
  let processes: Boot | undefined;
  return createNode(options, {
    ...{ runId, disk, root: '', files, keys },
    startJob: (mark) => (job, onEnd) => processes?.startJob(agentJob(job, mark()), onEnd),
    // Addresses are real here: nobody has to know them before.
    beforeLoad: () => Promise.resolve(),
    filesOf: async (view, mark) => [
      ...view.files.map(callingPrograms),
      ...realFiles(view, options, { mark, hash: await passwordHash(view.account.password) }),
    ],
    // Behind the door is the sshd of the node, whose own port 22 opens and shuts with it.
    serverOf: () => ({
      serve: (client) => relay(client, forwarder.dial(network.addressOf(name), 22)),
      allowHalfOpen: true,
      setInside: (isOpen) => processes?.setDoor(isOpen),
    }),
    execs: () => readExecs(disk + execsPath, name),
    startProcesses: async (mark) => {
      await mkdir(own, { recursive: true, mode: 0o700 });
      processes = await startBoot({ ground, name, root: mountPath(folder, name), askPath, folder: own, mark });
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

const hashes = new Map<string, Promise<string>>();

/** The hash of a password as the shadow file of a Linux has it: SHA-512, made by the crypt(3) of this machine. */
function passwordHash(password: string): Promise<string> {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const made = runProgram('perl', ['-e', 'print crypt($ARGV[0], q($6$meshwright$))', password]);
  hashes.set(password, made);
  return made;
}
