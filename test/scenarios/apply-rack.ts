import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Journal, JournalEntry } from '../../src/apply/journal/journal.ts';
import type { Controller } from '../../src/apply/lease/controller.ts';
import type { NodeWay } from '../../src/apply/reach/with-remote.ts';
import type { RunEvent, RunOptions } from '../../src/apply/run-options.ts';
import { type RunTiming, realTiming } from '../../src/apply/run-timing.ts';
import type { Plan, Rescue } from '../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { digest } from '../../src/model/digest.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Step } from '../../src/model/step.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import type { Target } from '../../src/remote/remote.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { desiredRack } from '../rack/rack.ts';
import { expectNobodyBelow } from './leftovers.ts';

/** A simulated rack in this process, and ways to it. */
export interface ApplyRack {
  readonly fleet: Fleet;
  /** Private to the test. */
  readonly folder: string;
  readonly desired: DesiredFleet;
  readonly way: (node: string, port?: number) => NodeWay;
  /** The text of a file of a node, by its path on a Mac; undefined when there is none. */
  readonly read: (node: string, path: string) => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Brings up four Studios; a second of theirs takes `clockFactor` of ours. */
export async function startApplyRack(seed: string, clockFactor = 1 / 20): Promise<ApplyRack> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-apply-'));
  const model = modelledFleet(desiredRack, seed);
  const fleet = await startFleet({ folder: join(folder, 'run'), model, clockFactor });
  const rootOf = (node: string): string => fleet.nodes[node]?.root ?? '';
  return {
    fleet,
    folder,
    desired: desiredRack,
    way: (node, port) => wayTo(fleet, node, port),
    read: (node, path) => {
      const file = rootOf(node) + path;
      return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    },
    stop: async () => {
      await fleet.stop();
      await rm(folder, { recursive: true, force: true });
      await expectNobodyBelow(folder);
    },
  };
}

/** In seconds. */
export const tenYears = 315_360_000;

/** Sets the clock of a node so many seconds ahead. */
export const setClock = ({ fleet }: ApplyRack, node: string, seconds: number): void =>
  writeFileSync(`${fleet.nodes[node]?.root}/.sim/clock-offset`, `${seconds}\n`);

export function wayTo(fleet: RunningFleet, node: string, port?: number): NodeWay {
  const straight = fleet.nodes[node];
  if (straight === undefined) throw new Error(`no simulated ${node}`);
  const target: Target = {
    label: node,
    host: '127.0.0.1',
    port: port ?? straight.port,
    user: straight.user,
    rootPrefix: straight.root,
    identityFiles: [fleet.userKey.path],
    isIdentitiesOnly: true,
  };
  const text = `[127.0.0.1]:${target.port} ${straight.hostKey}\n`;
  const [type = '', base64 = ''] = straight.prebootKey?.split(' ') ?? [];
  const prebootKeys = { [`[127.0.0.1]:${target.port}`]: [{ type, base64, line: 1 }] };
  const lock = { file: 'cluster.lock', hostKeys: {}, prebootKeys };
  const trust = trustFor(target, { knownHosts: [{ file: 'known_hosts', text }], lock });
  return { node: nodeName(node), way: { kind: 'way', target, trust } };
}

/** Real times, but for what a test would wait for. A beat costs as much as a step: tests that watch one have more of them. */
export const quickTiming: RunTiming = {
  ...realTiming,
  beatMs: 1_000,
  leaseExpiryMs: 6_000,
  busyMs: 20_000,
  leaseLookMs: 250,
  gatePollMs: 250,
  jobPollMs: 150,
  retryMs: 20,
  rebootPausesMs: [50, 100, 200],
  rebootDelaySeconds: 0.1,
  interruptMs: 2_000,
  gateStallMs: 0,
  tokenStallMs: 0,
  talkScale: 1 / 4,
};

/** A controller on another desk; its process lives as long as the test does. */
export const controller = (id = '0123456789ab', pid = process.pid): Controller => ({
  id,
  name: `ana@desk-${id.slice(0, 2)}`,
  pid,
  pidStart: 'unknown',
});

/** A journal in memory. `before` is called before each record is kept, and may throw. */
export interface KeptJournal extends Journal {
  readonly entries: readonly JournalEntry[];
}

/** A journal that keeps its records in memory. */
export function keptJournal(
  runId = `run-${randomBytes(3).toString('hex')}`,
  before?: (entry: JournalEntry) => void,
): KeptJournal {
  const entries: JournalEntry[] = [];
  return {
    runId,
    entries,
    write: (entry) => {
      before?.(entry);
      entries.push(entry);
    },
    close: () => undefined,
  };
}

/** What a run is started with in tests. */
export function runOptions(
  rack: ApplyRack,
  more: Partial<RunOptions> & { readonly events?: RunEvent[] } = {},
): RunOptions {
  const { events, ...options } = more;
  return {
    ways: rack.desired.nodes.map(({ name }) => rack.way(name)),
    desired: rack.desired,
    verb: 'apply',
    controller: controller(),
    journal: keptJournal(),
    parallel: 16,
    newToken: () => randomBytes(16).toString('hex'),
    timing: quickTiming,
    leaseWaitMs: 0,
    deadlineMs: 20_000,
    onEvent: (event) => void events?.push(event),
    ...options,
  };
}

/** A plan of these steps and nothing else. */
export const planOf = (steps: readonly Step[], rescues: readonly Rescue[] = []): Plan => ({
  formatVersion: 1,
  cluster: 'rack',
  configHash: digest('c'.repeat(64)),
  observed: {},
  changes: [],
  steps,
  rescues,
  waiting: [],
  blockers: [],
  effects: [],
  diagnostics: [],
});
