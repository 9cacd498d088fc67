import { rm } from 'node:fs/promises';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { ranksAccount } from '../../../src/model/account.ts';
import type { Act, StepClass } from '../../../src/model/step.ts';
import { type FileValue, filePart, first, second } from '../converge-file.ts';
import { publish } from '../published-sources.ts';
import type { KillRack, Verb } from './kill-rack.ts';

/** A verb that is killed, again and again from the same beginning. */
export interface KillScenario {
  readonly name: string;
  readonly verb: Verb;
  readonly targets: readonly string[];
  /** What its steps are, without repetition and sorted. */
  readonly classes: readonly StepClass[];
  readonly acts: readonly Act['kind'][];
  /** How the file differs while this is tried. */
  readonly file?: (file: FileValue) => void;
  /** Once, before all of it; and what takes it back after all of it. */
  readonly faults?: readonly (readonly string[])[];
  /** Before every run: undoes on the nodes what the run is to do. */
  readonly begin: (rack: KillRack) => Promise<void>;
}

const ours = '/Library/Application Support/meshwright';

async function remove({ at }: KillRack, node: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(at(node, path), { recursive: true, force: true });
}

async function fault({ rack }: KillRack, ...words: readonly string[]): Promise<void> {
  const answer = await rack.fleet().setFault(words);
  if (answer.kind === 'refused') throw new Error(plainText(answer.diagnostics[0].detail));
}

async function asRoot({ rack }: KillRack, node: string, script: string): Promise<void> {
  const { code, stderr } = await rack.asRoot(node, script);
  if (code !== 0) throw new Error(`${script}: ${stderr}`);
}

/** Nothing is served, so that nothing of it is disturbed by the rest. */
const stopped = (file: FileValue): void => {
  filePart(file, 'placements', 'chat')['state'] = 'stopped';
};

/** The same, with an account of ours for the ranks, which also fetches models. */
const stoppedWithAccount = (file: FileValue): void => {
  stopped(file);
  filePart(file, 'system')['accounts'] = { ranks: ranksAccount };
};

/** The account may not be there yet. */
const withoutAccount = ['Users', 'Groups']
  .map((kind) => `"$R/usr/bin/dscl" . -delete /${kind}/${ranksAccount} 2>/dev/null || :`)
  .join('\n');

/** Power, the bridge, an address, a limit and an account; one Mac has to be visited. */
export const settings: KillScenario = {
  name: 'apply: settings, the network, and work for hands',
  verb: 'apply',
  targets: [first, second],
  classes: ['converge', 'manual', 'probe'],
  acts: ['gate', 'hands', 'script', 'transaction'],
  file: stoppedWithAccount,
  faults: [['rdma-disabled', first]],
  begin: async (rack) => {
    await asRoot(rack, second, withoutAccount);
    await remove(rack, second, `${ours}/accounts`);
    await fault(rack, 'power-wrong', first);
    await fault(rack, 'bridge-active', second);
    await asRoot(rack, first, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=0');
  },
};

/** One Mac has lost its runtime, the other its model. */
export const trees: KillScenario = {
  name: 'apply: a runtime from here, a model from the web',
  verb: 'apply',
  targets: [first, second],
  classes: ['converge', 'job', 'probe'],
  acts: ['gate', 'job', 'script', 'send'],
  file: stoppedWithAccount,
  begin: async (rack) => {
    await remove(rack, first, `${ours}/ops`, '/opt/meshwright/runtimes', '/opt/meshwright/staging');
    await remove(rack, second, `${ours}/ops`, '/opt/meshwright/models', '/opt/meshwright/staging');
  },
};

const untouched = (): Promise<void> => Promise.resolve();

/** A mesh that serves is stopped, and started again. */
export const restart: KillScenario = {
  name: 'restart',
  verb: 'restart',
  targets: [first, second],
  classes: ['converge', 'probe'],
  acts: ['ask', 'gate', 'put', 'script'],
  begin: untouched,
};

/** A Mac that serves by itself goes down and comes back; the start of a mesh is killed in `restart`. */
export const reboot: KillScenario = {
  name: 'reboot',
  verb: 'reboot',
  targets: [second],
  classes: ['converge', 'once', 'probe'],
  acts: ['ask', 'gate', 'put', 'reboot', 'script'],
  file: (file) => {
    filePart(file, 'placements', 'chat')['nodes'] = [second];
  },
  begin: untouched,
};

const published = (file: FileValue): void => publish(file, { access: 'anybody' });

/** A file of which nothing runs, so that the whole file is a first start for both Macs. */
const idle = (file: FileValue): void => {
  delete file['placements'];
  filePart(file, 'system')['keeper'] = 'none';
};

/** A mesh, its gateway and the keepers start for the first time. */
export const firstStart: KillScenario = {
  name: 'apply: a first start with gateway and keepers',
  verb: 'apply',
  targets: [first, second],
  classes: ['converge', 'probe'],
  acts: ['ask', 'gate', 'put', 'script'],
  file: published,
  begin: async ({ rack, file }) => {
    // What the killed run before has done is judged by now.
    await rack.behindOurBack(() => Promise.resolve());
    for (const change of [idle, published]) {
      const problems = await rack.declare(file(change));
      if (problems.length > 0) throw new Error(JSON.stringify(problems));
      if (change === idle) await rack.apply();
    }
  },
};

/** All that are killed. */
export const killScenarios: readonly KillScenario[] = [settings, trees, restart, reboot, firstStart];
