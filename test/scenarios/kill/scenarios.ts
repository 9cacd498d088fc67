import { rm } from 'node:fs/promises';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { ranksAccount } from '../../../src/model/account.ts';
import type { Act, StepClass } from '../../../src/model/step.ts';
import { type FileValue, filePart, first, second } from '../converge-file.ts';
import { publish } from '../published-sources.ts';
import type { KillRack, Verb } from './kill-rack.ts';

/** A command that is killed repeatedly from the same initial state. */
export interface KillScenario {
  readonly name: string;
  readonly verb: Verb;
  readonly targets: readonly string[];
  /** The classes and kinds of its steps, without repetition and sorted. */
  readonly classes: readonly StepClass[];
  readonly acts: readonly Act['kind'][];
  /** The change of the file for this scenario. */
  readonly file?: (file: FileValue) => void;
  /** Faults that are set once before the scenario and cleared after it. */
  readonly faults?: readonly (readonly string[])[];
  /** Called before every run: undoes the run's changes on the nodes. */
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

/** Stops the placement, so that the other changes do not disturb it. */
const stopped = (file: FileValue): void => {
  filePart(file, 'placements', 'chat')['state'] = 'stopped';
};

/** The same change, with the account of the ranks named. */
const stoppedWithAccount = (file: FileValue): void => {
  stopped(file);
  filePart(file, 'system')['accounts'] = { ranks: ranksAccount };
};

/** The account may not exist yet. */
const withoutAccount = ['Users', 'Groups']
  .map((kind) => `"$R/usr/bin/dscl" . -delete /${kind}/${ranksAccount} 2>/dev/null || :`)
  .join('\n');

/** Power, the bridge, an address, a limit and an account; one Mac needs a manual step. */
export const settings: KillScenario = {
  name: 'apply of settings, the network, and manual steps',
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

/** One Mac lost its runtime, the other its model. */
export const trees: KillScenario = {
  name: 'apply of a local runtime and a model from the web',
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

/** A serving mesh is stopped and started again. */
export const restart: KillScenario = {
  name: 'restart',
  verb: 'restart',
  targets: [first, second],
  classes: ['converge', 'probe'],
  acts: ['ask', 'gate', 'put', 'script'],
  begin: untouched,
};

/** A Mac that serves without peers restarts. The scenario `restart` covers the start of a mesh. */
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

/** A file without services, so that the next file is a first start for both Macs. */
const idle = (file: FileValue): void => {
  delete file['placements'];
  filePart(file, 'system')['keeper'] = 'none';
};

/** A mesh, its gateway and the keepers start for the first time. */
export const firstStart: KillScenario = {
  name: 'apply of a first start with gateway and keepers',
  verb: 'apply',
  targets: [first, second],
  classes: ['converge', 'probe'],
  acts: ['ask', 'gate', 'put', 'script'],
  file: published,
  begin: async ({ rack, file }) => {
    // The effects of the previous killed run have already been checked.
    await rack.behindOurBack(() => Promise.resolve());
    for (const change of [idle, published]) {
      const problems = await rack.declare(file(change));
      if (problems.length > 0) throw new Error(JSON.stringify(problems));
      if (change === idle) await rack.apply();
    }
  },
};

/** All scenarios. */
export const killScenarios: readonly KillScenario[] = [settings, trees, restart, reboot, firstStart];
