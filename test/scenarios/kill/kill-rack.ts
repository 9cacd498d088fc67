import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalFolder, newRunId, openJournal } from '../../../src/apply/journal/journal.ts';
import { thisController } from '../../../src/apply/lease/controller.ts';
import type { PlaybookReport } from '../../../src/apply/playbook-report.ts';
import { runPlaybook } from '../../../src/apply/run-playbook.ts';
import { type RunTiming, realTiming } from '../../../src/apply/run-timing.ts';
import { readSecrets } from '../../../src/diagnostics/hide-secrets.ts';
import { loadPlaybook } from '../../../src/engine/playbooks/load.ts';
import type { Playbook } from '../../../src/engine/playbooks/playbook.ts';
import { nodeName } from '../../../src/model/node.ts';
import type { FleetObservation } from '../../../src/rack/examination.ts';
import { writeTinyModel } from '../../../src/sim/doubles/reference.ts';
import { textOf } from '../../architecture/sources.ts';
import { quickTiming } from '../apply-rack.ts';
import { type FileValue, filePart, pairFile } from '../converge-file.ts';
import { type ConvergeRack, startConvergeRack } from '../converge-rack.ts';
import { buildController } from './build-controller.ts';
import { finalState } from './final-state.ts';
import { type JobWatch, watchJobs } from './job-watch.ts';
import { type RunningController, startController } from './run-controller.ts';
import { type SlowFiles, serveSlowly } from './slow-files.ts';

/** The successor of a killed controller. */
export type Successor =
  /** The same computer with the same state folder: it can see that the process has exited. */
  | 'same'
  /** A different computer, which has no information and must wait until the lease expires. */
  | 'empty';

/** A run of a controller process. */
export interface KillRun extends RunningController {
  /** The controller's state folder, and its journal in that folder. */
  readonly state: string;
  readonly journal: string;
  /** The start of the run. Earlier effects on the nodes have other causes. */
  readonly sinceEpochMs: number;
}

/** The options of a run. */
export interface StartOptions {
  readonly dieAfter?: string;
  /** True if leases are renewed so often that every run has a renewal. Each renewal costs as much as a step. */
  readonly hasHeartbeat: boolean;
}

/** The observation and the result of an apply after a kill. */
export interface Recovery {
  readonly report: PlaybookReport;
  /** The observation before the apply changed anything. */
  readonly found: FleetObservation;
}

/** A rack for killing controllers. */
export interface KillRack {
  readonly rack: ConvergeRack;
  readonly files: SlowFiles;
  readonly jobs: JobWatch;
  /** The cluster file of the pair, optionally changed. */
  readonly file: (change?: (file: FileValue) => void) => FileValue;
  /** Starts a command in a separate process, with an empty state folder. */
  readonly start: (verb: Verb, targets: readonly string[], options: StartOptions) => Promise<KillRun>;
  /** Applies once after a killed run. */
  readonly recover: (killed: KillRun, successor: Successor) => Promise<Recovery>;
  /** The state of the nodes in that observation, without values that differ between runs. */
  readonly stateIn: (observation: FleetObservation) => Promise<unknown>;
  /** The path on this computer of a path on a node. */
  readonly at: (node: string, path: string) => string;
  readonly stop: () => Promise<void>;
}

/** Commands that are killed. Each is a shipped playbook. */
export type Verb = 'apply' | 'restart' | 'reboot';

/** Longer than any test. */
const never = 3_600_000;

/** Longer than the slowest machine takes to confirm a network change; `endRollbackTimes` ends it. */
export const rollbackSeconds = 179.25;

/** Deadlines of scripts and of ranks without progress are those for real Macs. */
const killedTiming: RunTiming = {
  ...quickTiming,
  rollbackAfterMs: rollbackSeconds * 1_000,
  heartbeatMs: realTiming.heartbeatMs,
  busyMs: realTiming.busyMs,
  gatePollMs: 400,
  jobPollMs: 200,
  gateStallMs: 30_000,
  tokenStallMs: 30_000,
};

const shortHeartbeatMs = 300;

/** A dead process on this computer is detected immediately; on a different computer, only by its silence. */
const timings: Readonly<Record<Successor, RunTiming>> = {
  same: { ...killedTiming, leaseExpiryMs: never },
  empty: { ...killedTiming, leaseExpiryMs: 200 },
};

function shipped(verb: Verb): Playbook {
  const { playbook } = loadPlaybook(textOf(`playbooks/${verb}.yaml`), { file: `${verb}.yaml`, name: verb });
  if (playbook === undefined) throw new Error(`playbooks/${verb}.yaml is not valid`);
  return playbook;
}

/** The pair. Each node fetches its model from a web server as a job. */
async function fileWith(folder: string): Promise<(change?: (file: FileValue) => void) => FileValue> {
  const written = await writeTinyModel(folder);
  const files = written.map(({ path, sha256, sizeBytes }) => [path, { sha256, size: sizeBytes }]);
  return (change = () => undefined) =>
    pairFile((file) => {
      file['downloads'] = { plainHttp: 'allowed' };
      filePart(file, 'models')['tiny'] = { source: 'http://models.lan/tiny/', files: Object.fromEntries(files) };
      change(file);
    });
}

const pauseMs = 80;

/** Starts two nodes and builds the program of their controller. */
export async function startKillRack(seed: string): Promise<KillRack> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-kill-'));
  const program = await buildController(folder);
  const file = await fileWith(join(folder, 'tiny'));
  const files = await serveSlowly(join(folder, 'tiny'), pauseMs);
  const rack = await startConvergeRack(seed, file());
  const me = await thisController();
  const roots = new Map(Object.entries(rack.fleet().nodes).map(([name, { root }]) => [name, root]));
  for (const root of roots.values()) await writeFile(join(root, '.sim/web'), `models.lan:80 127.0.0.1:${files.port}\n`);

  const jobs = watchJobs(rack.folder);

  const newState = async (): Promise<string> => {
    const state = await mkdtemp(join(folder, 'state-'));
    await mkdir(join(state, 'journal'), { recursive: true });
    return state;
  };
  const start: KillRack['start'] = async (verb, targets, { dieAfter, hasHeartbeat }) => {
    const state = await newState();
    const begunAt = new Date();
    const runId = newRunId(begunAt);
    const desired = rack.desired();
    const { nodes, userKey } = rack.fleet();
    const running = await startController(program, {
      playbook: shipped(verb),
      desired,
      targets: targets.map(nodeName),
      nodes: Object.entries(nodes).map(([name, node]) => ({ name: nodeName(name), ...node })),
      userKey: userKey.path,
      state,
      runId,
      timing: hasHeartbeat ? { ...killedTiming, heartbeatMs: shortHeartbeatMs } : killedTiming,
      ...(dieAfter === undefined ? {} : { dieAfter }),
    });
    return {
      ...running,
      state,
      journal: join(journalFolder(state, desired.name), `${runId}.ndjson`),
      sinceEpochMs: begunAt.getTime(),
    };
  };
  const recover: KillRack['recover'] = async (killed, successor) => {
    const state = successor === 'same' ? killed.state : await newState();
    const desired = rack.desired();
    const timing = timings[successor];
    const controller = successor === 'same' ? me : { ...me, id: 'ffffffffffff', name: 'ben@other-desk' };
    const seen: FleetObservation[] = [];
    const report = await runPlaybook(shipped('apply'), {
      scope: { desired, targets: desired.nodes.map(({ name }) => name) },
      observe: async () => {
        const observation = await rack.observe();
        seen.push(observation);
        return observation;
      },
      approve: () => Promise.resolve(true),
      confirm: () => Promise.resolve(true),
      timing,
      run: () => ({
        parallel: 16,
        deadlineMs: 60_000,
        newBoundary: () => randomBytes(16).toString('hex'),
        ways: rack.ways(),
        desired,
        verb: 'apply',
        controller,
        journal: openJournal(journalFolder(state, desired.name), newRunId(new Date()), readSecrets()),
        timing,
        leaseWaitMs: 0,
        onEvent: () => undefined,
      }),
    });
    const [found] = seen;
    if (found === undefined) throw new Error('the apply made no observation');
    return { report, found };
  };
  return {
    rack,
    file,
    files,
    jobs,
    start,
    recover,
    stateIn: (observation) => finalState(rack.desired(), observation, roots),
    at: (node, path) => `${roots.get(node) ?? ''}${path}`,
    stop: async () => {
      jobs.close();
      await rack.stop();
      await files.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
