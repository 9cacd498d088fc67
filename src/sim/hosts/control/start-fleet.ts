import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { given } from '../../../model/given.ts';
import type { MacEvent } from '../../model/history.ts';
import { preferencesPath } from '../../model/network.ts';
import { strangerPid } from '../../model/rdma.ts';
import type { FleetHost, OpenHost, SimulatedNode } from '../fleet-host.ts';
import type { ActsAnswer, FaultAnswer, FleetModel, ToolAnswer } from '../fleet-model.ts';
import { portableHost } from '../portable-host.ts';
import type { EffectAct, RecordedEffect } from '../records.ts';
import { loadOrCreateKey } from '../ssh/host-keys.ts';
import { createTurns } from '../turns.ts';
import { type AskRequest, serveAsks } from './asks.ts';
import { chooseSocketPath } from './control.ts';
import { createDaemonFollower, networkDaemonLabel } from './exo-daemon.ts';
import { saveState } from './run-folder.ts';

/**
 * Starts every node of a model behind a real SSH server on the loopback interface. Existing host keys and the client's
 * key in the folder are reused. Nodes of an earlier run keep their disks and just boot; all other nodes start with an
 * empty disk.
 *
 * @throws FleetError `sim/run-folder`
 */
export async function startFleet(options: StartFleetOptions) {
  const parts = await buildFleet(options, portableHost);
  const { onExec, groupCount, realPort } = parts.host;
  return { ...fleetOf(parts), onExec, groupCount, realPort };
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Starts a fleet on a given host. @throws FleetError `sim/run-folder`, and the host's errors */
export async function startFleetOn(host: FleetHost<OpenHost>, options: StartFleetOptions): Promise<RunningFleet> {
  return fleetOf(await buildFleet(options, host));
}

async function restarted<T extends { readonly restarts: readonly string[] }>(
  nodes: readonly SimulatedNode[],
  answer: T,
): Promise<T> {
  const visited = nodes.filter((node) => answer.restarts.includes(node.name));
  await Promise.all(visited.map((node) => node.life.restart('up', 'hands').then(() => node.life.powerOn())));
  return answer;
}

function fleetOf({ runId, userKey, askPath, live, asks, host }: FleetParts) {
  const { nodes, model } = live;
  const named = (name: string): SimulatedNode | undefined => nodes.find((one) => one.name === name);
  const byName = <T>(value: (node: SimulatedNode) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(nodes.map((node) => [node.name, value(node)]));
  const change = async <T extends FaultAnswer | ActsAnswer>(act: () => T): Promise<T> => {
    const answer = await live.takeTurn(async () => {
      const done = act();
      if (done.kind === 'done') await live.settle();
      return done;
    });
    await live.follow();
    return answer;
  };
  let stopped: Promise<void> | undefined;
  return {
    runId,
    userKey,
    askSocket: askPath,
    nodes: byName((node) => node.run),
    /** The folder of a node's `/` on this machine; undefined if there is no such node. */
    disk: (name: string): string | undefined => named(name)?.disk,
    counts: () => byName((node) => node.counts()),
    /** All recorded commands, by time. */
    execs: () => nodes.flatMap((node) => node.execs()).sort((a, b) => a.atEpochMs - b.atEpochMs),
    /** All writes, stops, deletions of model files and boots, in order. */
    effects: live.effects,
    /** Lines of `/.sim/unknown` by node: commands that a real Mac would not understand. */
    unknown: async (): Promise<Readonly<Record<string, readonly string[]>>> =>
      Object.fromEntries(await Promise.all(nodes.map(async (node) => [node.name, await node.unknown()] as const))),
    /** All live processes that the fleet's launchds started. */
    processes: () => nodes.flatMap((node) => node.launchd.processes().map((one) => ({ node: node.name, ...one }))),
    power: () => byName((node) => node.life.power()),
    /** Both functions render every node again before they answer. */
    setFault: (words: readonly string[]) => change(() => model.setFault(words)),
    clearFault: (words: readonly string[]) => change(() => model.clearFault(words)),
    /** Performs all manual steps at the rack; resolves when all restarted Macs are up again. */
    hands: async () => {
      const answer = await live.takeTurn(async () => {
        const work = model.hands();
        await live.settle();
        return work;
      });
      return restarted(nodes, answer);
    },
    /** Moves plugs or installs updates, such as `unplug studio-1:2`; resolves when all restarted Macs are up again. */
    act: async (words: readonly string[]) => {
      const answer = await change(() => model.act(words));
      if (answer.kind === 'done') await restarted(nodes, answer);
      return answer;
    },
    /** Presses the button of a Mac that is off; false if there is no such node. Resolves when the Mac is reachable. */
    powerOn: async (name: string): Promise<boolean> => {
      const node = named(name);
      if (node?.view().ailments.lacksCurrent !== true) await node?.life.powerOn();
      return node !== undefined;
    },
    /** Cuts a Mac's power, whatever it is doing; false if there is no such node. */
    cutPower: async (name: string): Promise<boolean> => {
      const node = named(name);
      await node?.life.cutPower();
      return node !== undefined;
    },
    /** Closes all connections, kills all processes and removes the files of a running fleet; may be called twice. */
    stop: (): Promise<void> => {
      stopped ??= stopFleet({ live, asks, host });
      return stopped;
    },
  };
}

export type RunningFleet = ReturnType<typeof fleetOf>;

/** Keeps simulated reboots short. */
const usualClockFactor = 1 / 20;

/** Creates the run folder. Its name must not split PATH, and sshd refuses one that others can write to. */
async function prepareFolder(wanted: string): Promise<string> {
  const folder = resolve(wanted);
  if (/[:\n]/.test(folder)) {
    const detail = `The run folder ${folder} has a colon or line break in its path.`;
    throw new FleetError([diagnose('sim/run-folder', { detail })]);
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  return folder;
}

const bootModel = (model: FleetModel, node: string): void =>
  model.happen(node, { kind: 'boot', atEpochSeconds: Math.floor(Date.now() / 1000) });

/** Deletes the disks of removed nodes. All other Macs boot with the preferences on their disks. */
async function startReusedMacs(model: FleetModel, folder: string): Promise<void> {
  const names = model.nodes.map(({ name }) => name);
  const found = await readdir(join(folder, 'roots')).catch(() => []);
  for (const name of found.filter((one) => !names.includes(one))) {
    await rm(join(folder, 'roots', name), { recursive: true, force: true });
  }
  for (const name of names.filter(model.reusesDisk)) {
    const text = await readFile(join(folder, 'roots', name, preferencesPath), 'utf8').catch(() => undefined);
    if (text !== undefined) model.reread(name, text);
    bootModel(model, name);
  }
}

async function buildShared<Open extends OpenHost>(model: FleetModel, folder: string, carrier: FleetHost<Open>) {
  const runId = randomBytes(6).toString('hex');
  const userKey = await loadOrCreateKey(join(folder, 'user-key'), 'simulated');
  const askPath = await chooseSocketPath(folder, 'ask.sock');
  const opened: { host?: OpenHost } = {};
  const live = createLiveFleet(model, folder, async (nodes) => opened.host?.update(nodes));
  const asks = await serveAsks(askPath, (request) => answerAsk(live, request));
  try {
    const names = model.nodes.map(({ name }) => name);
    const host = await carrier.open({ runId, folder, nodes: names, userKey, askPath });
    opened.host = host;
    return { runId, userKey, asks, askPath, live, host };
  } catch (error) {
    await asks.close();
    throw error;
  }
}

type FleetParts = Awaited<ReturnType<typeof buildShared<OpenHost>>>;

/** Boots a node's Mac in the model, after reading the preferences from its disk. */
async function startModel({ model, takeTurn, settle }: LiveFleet, node: SimulatedNode): Promise<void> {
  await takeTurn(async () => {
    const edited = await node.edited(preferencesPath);
    if (edited !== undefined) model.reread(node.name, edited);
    bootModel(model, node.name);
    // The person who set up the new Mac has entered its password.
    if (node.isExchanged()) model.happen(node.name, { kind: 'unlock' });
    node.begin();
    await settle();
  });
}

async function buildNode(
  { ports, clockFactor = usualClockFactor, intervalFactor = 1 }: StartFleetOptions,
  { live, host }: FleetParts,
  { name, user }: FleetModel['nodes'][number],
): Promise<void> {
  const { model } = live;
  const node: SimulatedNode = await host.createNode({
    name,
    user,
    readModel: () => model.viewOf(name),
    reusesDisk: model.reusesDisk(name),
    startModel: () => startModel(live, node),
    unlockModel: () => live.happen(name, { kind: 'unlock' }),
    note: (act) => live.note(node, act),
    scaledMs: (macMs) => macMs * clockFactor,
    intervalMs: (macMs) => macMs * intervalFactor,
    ...given({ preferredPort: ports?.[name] }),
  });
  live.nodes.push(node);
}

/** Creates all parts of a fleet on this host and boots the Macs. @throws FleetError `sim/run-folder` */
async function buildFleet<Open extends OpenHost>(options: StartFleetOptions, carrier: FleetHost<Open>) {
  const folder = await prepareFolder(options.folder);
  await startReusedMacs(options.model, folder);
  const shared = await buildShared(options.model, folder, carrier);
  const started = await Promise.allSettled(options.model.nodes.map((node) => buildNode(options, shared, node)));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopFleet(shared);
    throw failed.reason;
  }
  const order = options.model.nodes.map(({ name }) => name);
  const { live } = shared;
  live.nodes.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  await live.takeTurn(live.settle);
  await live.follow();
  return shared;
}

async function stopFleet({ live, asks, host }: Pick<FleetParts, 'live' | 'asks' | 'host'>): Promise<void> {
  await Promise.all(live.nodes.map((node) => node.close()));
  await asks.close();
  await host.close();
}

/**
 * Applies the model's power state to a Mac. After a panic the Mac goes down and boots by itself. A Mac without power
 * remains off until power is back; if it was on before, it then boots if `autorestart` is on. A Mac that must wait at FileVault, or that was
 * replaced by a different Mac, is rebooted. Each call of the returned function does this for one node and resolves
 * when the Mac is in its final state.
 */
function createPowerFollower() {
  const wasUpByName = new Map<string, boolean>();
  return async (node: SimulatedNode): Promise<void> => {
    const { ailments, comesBackAfterPowerLoss, connection } = node.view();
    const { life, name } = node;
    const isUp = life.power() === 'up';
    if (ailments.lacksCurrent) {
      wasUpByName.set(name, wasUpByName.get(name) ?? life.power() !== 'down');
      await life.cutPower();
    } else if (wasUpByName.has(name)) {
      const wasUp = wasUpByName.get(name);
      wasUpByName.delete(name);
      if (wasUp === true && comesBackAfterPowerLoss) await life.powerOn();
    } else if (ailments.panic !== undefined && isUp) {
      await life.panic();
    } else if (isUp && (node.isExchanged() || (connection.filevault === 'preboot' && node.isAwake()))) {
      await life.cutPower();
      await life.powerOn();
    }
  };
}

/** Limits memory use of simulations that run for days. */
const maxEffects = 10_000;

/** `folder` contains the saved state; `update` makes the network match the model. */
function createLiveFleet(model: FleetModel, folder: string, update: OpenHost['update']) {
  /** In file order, once all nodes exist. */
  const nodes: SimulatedNode[] = [];
  const effects: RecordedEffect[] = [];
  const followPower = createPowerFollower();
  const followDaemon = createDaemonFollower();
  const takeFollow = createTurns();
  const takeTurn = createTurns();
  const settle = async (): Promise<void> => {
    const state = model.save();
    if (state !== undefined) await saveState(folder, state);
    await Promise.all(nodes.map((node) => node.render()));
    await update(nodes);
    await Promise.all(nodes.map((node) => node.wake()));
  };
  const happen = (node: string, event: MacEvent): Promise<void> =>
    takeTurn(async () => {
      model.happen(node, event);
      await settle();
    });
  /** Sends the signal of a fault to the ranks that run now. */
  const signalRanks = async ({ name, launchd, view }: SimulatedNode): Promise<void> => {
    const { rankSignal } = view().ailments;
    if (rankSignal === undefined) return;
    const ranks = launchd.processes().filter(({ label }) => label.includes('.rank.'));
    for (const { label } of ranks)
      await launchd.launchctl({ args: ['kill', rankSignal, `system/${label}`], isRoot: true });
    await happen(name, { kind: 'ranks-signalled' });
  };
  return {
    model,
    nodes,
    takeTurn,
    happen,
    note: (node: SimulatedNode, act: EffectAct): void => {
      effects.push({ ...act, node: node.name, boot: node.boot(), atEpochMs: Date.now() });
      if (effects.length > maxEffects) effects.shift();
    },
    effects: (): readonly RecordedEffect[] => [...effects],
    /**
     * Starts and stops Macs and daemons to match the model. Call this outside a turn, because booting a Mac takes a
     * turn. Calls run sequentially: if a fault is cleared while its Mac is booting, the fault ends after the boot.
     */
    follow: (): Promise<void> =>
      takeFollow(async () => {
        await Promise.all(nodes.map(followPower));
        await Promise.all(nodes.map(followDaemon));
        await Promise.all(nodes.map(signalRanks));
      }),
    /** Saves the state and updates all files of all nodes. Call this in a turn. */
    settle,
  };
}

type LiveFleet = ReturnType<typeof createLiveFleet>;

/** The answer to a process of an earlier boot session, which would no longer exist on a real Mac. */
const staleText = 'simulated: this process belongs to an earlier boot session\n';

/** Removes the node's root prefix, so that the path is as on a Mac. */
const withoutRoot = (word: string, root: string): string =>
  word.startsWith(`${root}/`) ? word.slice(root.length) : word;

/** Applies an event to the model. The caller can wait for `followed`, the event's effects on whole Macs. */
async function happen(fleet: LiveFleet, node: string, event: MacEvent): Promise<{ readonly followed: Promise<void> }> {
  await fleet.happen(node, event);
  // If the fleet stops meanwhile, the result does not matter.
  return { followed: fleet.follow().catch(() => undefined) };
}

/**
 * Handles an event that a node's process reports with `note`. Ranks report `tcp-load`, the foreign network daemon
 * reports `daemon-run`, and the sshd before FileVault reports `unlock`. Tools that run without the simulator report
 * `delete PATH...` and `kill SIGNAL PID...`. A perl program reports `listen ADDRESS:PORT` before it uses the address.
 */
async function onNote(fleet: LiveFleet, node: SimulatedNode, [word = '', ...rest]: readonly string[]): Promise<void> {
  if (word === 'unlock') void node.life.unlock();
  // A process that causes a kernel panic gets no answer.
  if (word === 'tcp-load') await (await happen(fleet, node.name, { kind: word })).followed;
  if (word === 'daemon-run') await happen(fleet, node.name, { kind: word });
  if (word === 'listen') await node.announce(rest);
  if (word === 'delete') fleet.note(node, { kind: word, paths: rest });
  if (word !== 'kill') return;
  const [signal = '', ...targets] = rest;
  if (!/^(?:STOP|CONT|USR[12])$/.test(signal) && targets.includes(String(strangerPid))) {
    await happen(fleet, node.name, { kind: 'processes-ended', pids: targets.map(Number) });
  }
  fleet.note(node, { kind: word, signal, targets });
}

/** Applies launchctl commands that affect the model: starting a rank, killing a service, disabling or enabling exo's daemon. */
async function onLaunchctl(fleet: LiveFleet, { name }: SimulatedNode, words: readonly string[]): Promise<void> {
  const [verb, target] = words;
  if (verb === 'kickstart' && target?.includes('.rank.')) await happen(fleet, name, { kind: 'rank-started' });
  if (verb === 'kill' && target === 'SIGKILL') await happen(fleet, name, { kind: 'killed' });
  if (target !== `system/${networkDaemonLabel}` || (verb !== 'disable' && verb !== 'enable')) return;
  await happen(fleet, name, { kind: 'daemon', isStopped: verb === 'disable' });
}

/** Answers one tool after applying its request and writing all files that depend on the change. */
async function answerAsk(fleet: LiveFleet, request: AskRequest): Promise<ToolAnswer> {
  const node = fleet.nodes.find((one) => one.mark() === request.mark);
  if (node === undefined || !node.life.isRunning()) return { stdout: '', stderr: staleText, exitCode: 70 };
  const args = request.args.map((word) => withoutRoot(word, node.run.root));
  if (request.tool === 'note') {
    await onNote(fleet, node, args);
    return { stdout: '', stderr: '', exitCode: 0 };
  }
  const { tool, isRoot } = request;
  if (tool === '/bin/launchctl') {
    // Outside a turn, because launchctl can wait for a process to exit and does not change the model.
    const answer = await node.launchd.launchctl({ args, isRoot });
    fleet.note(node, { kind: 'launchctl', args, exitCode: answer.exitCode });
    if (answer.exitCode === 0) await onLaunchctl(fleet, node, args);
    return answer;
  }
  return fleet.takeTurn(async () => {
    const edited = await node.edited(preferencesPath);
    if (edited !== undefined) fleet.model.reread(node.name, edited);
    const { isKnown, isChange, power, ...answer } = fleet.model.write({ node: node.name, tool, args, isRoot });
    if (!isKnown) await node.objectTo(`${tool} ${args.length}:${args.join(' ').replaceAll('\n', ' ')}`);
    else if (isChange || answer.exitCode !== 0)
      fleet.note(node, { kind: 'write', tool, args, exitCode: answer.exitCode });
    await fleet.settle();
    if (power !== undefined) void node.life.restart(power === 'restart' ? 'up' : 'off', 'shutdown');
    return answer;
  });
}

export interface StartFleetOptions {
  /** Used only by this run; contains keys, roots, pipes and the saved state. Existing keys are reused. */
  readonly folder: string;
  readonly model: FleetModel;
  /** Ports of an earlier run by node, to be tried first. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Real seconds per second of a Mac, for reboots and grace periods (default 1/20). */
  readonly clockFactor?: number;
  /** Real seconds per second of a Mac for `StartInterval` (default 1: shorter intervals keep the machine busy). */
  readonly intervalFactor?: number;
}
