import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { saveState } from './control/run-folder.ts';
import type { SimulatedNode } from './fleet-host.ts';
import type { FleetModel } from './fleet-model.ts';
import type { Effect, EffectAct } from './records.ts';
import { createTurns } from './turns.ts';

/** exo's network daemon in launchd. @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift */
export const networkDaemonLabel = 'io.exo.networksetup';

const plistPath = `/Library/LaunchDaemons/${networkDaemonLabel}.plist`;
const scriptPath = '/Library/Application Support/EXO/disable_bridge.sh';

/** As exo installs it: at each start, and every 1786 s. */
const plist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>${networkDaemonLabel}</string>
<key>ProgramArguments</key><array><string>${scriptPath}</string></array>
<key>RunAtLoad</key><true/>
<key>StartInterval</key><integer>1786</integer>
</dict></plist>
`;

/** What it does is the model's business: so it goes as it came when the fault is cleared. */
const script = `#!/bin/sh
r=\${0%'${scriptPath}'}
exec "$r/usr/bin/perl" "$r/.sim/ask" / note daemon-run
`;

async function install({ disk, launchd }: SimulatedNode): Promise<void> {
  await mkdir(dirname(join(disk, scriptPath)), { recursive: true });
  await writeFile(join(disk, plistPath), plist, { mode: 0o644 });
  await writeFile(join(disk, scriptPath), script);
  await chmod(join(disk, scriptPath), 0o755);
  await launchd.launchctl({ args: ['enable', `system/${networkDaemonLabel}`], isRoot: true });
  await launchd.launchctl({ args: ['bootstrap', 'system', plistPath], isRoot: true });
}

async function uninstall({ disk, launchd }: SimulatedNode): Promise<void> {
  await launchd.launchctl({ args: ['bootout', `system/${networkDaemonLabel}`], isRoot: true });
  await launchd.launchctl({ args: ['enable', `system/${networkDaemonLabel}`], isRoot: true });
  await rm(join(disk, plistPath), { force: true });
  await rm(dirname(join(disk, scriptPath)), { recursive: true, force: true });
}

/**
 * Installs exo's daemon on the Macs that have it in the model, and takes it away where it is gone from there. Somebody
 * who stopped it is left in peace. The returned function does so once; to be called outside of a turn.
 */
function createDaemonFollower(nodes: readonly SimulatedNode[]): () => Promise<void> {
  const present = new Map<string, 'fights' | 'stopped'>();
  const follow = async (node: SimulatedNode): Promise<void> => {
    const { networkDaemon } = node.view().ailments;
    const before = present.get(node.name);
    if (networkDaemon === before || node.life.power() !== 'up') return;
    if (networkDaemon === undefined) present.delete(node.name);
    else present.set(node.name, networkDaemon);
    if (networkDaemon === 'fights') await install(node);
    if (networkDaemon === undefined) await uninstall(node);
  };
  return async () => {
    await Promise.all(nodes.map(follow));
  };
}

/**
 * Carries out what the model says of the current of each Mac: one that panics goes down and starts again by itself,
 * one without current is off until it is back, one that is to wait at FileVault while its services run is started anew,
 * since only a start leads there. So is another Mac in the place of the one that runs. The returned function does so
 * once; to be called outside of a turn, since the start of a Mac takes one. Resolves when every Mac is as it will stay.
 */
function createPowerFollower(nodes: readonly SimulatedNode[]): () => Promise<void> {
  const withoutCurrent = new Set<string>();
  const follow = async (node: SimulatedNode): Promise<void> => {
    const { ailments, comesBackAfterPowerLoss, connection } = node.view();
    const { life, name } = node;
    if (ailments.lacksCurrent) {
      withoutCurrent.add(name);
      await life.cutPower();
    } else if (withoutCurrent.delete(name)) {
      if (comesBackAfterPowerLoss) await life.powerOn();
    } else if (ailments.panic !== undefined && life.power() === 'up') {
      await life.panic();
    } else if (
      life.power() === 'up' &&
      (node.isExchanged() || (connection.filevault === 'preboot' && node.isAwake()))
    ) {
      await life.cutPower();
      await life.powerOn();
    }
  };
  return async () => {
    await Promise.all(nodes.map(follow));
  };
}

/** How many effects are kept; a rehearsal that goes on for days must not fill the memory. */
const maxEffects = 10_000;

/**
 * The nodes of a fleet with the model that they follow.
 *
 * @param folder of the run, which keeps the state
 * @param update brings the network in line with the model
 */
export function createLiveFleet(
  model: FleetModel,
  folder: string,
  update: (nodes: readonly SimulatedNode[]) => Promise<void>,
) {
  /** In the order of the file, once all of them are there. */
  const nodes: SimulatedNode[] = [];
  const effects: Effect[] = [];
  const followPower = createPowerFollower(nodes);
  const followDaemons = createDaemonFollower(nodes);
  const takeFollow = createTurns();
  return {
    model,
    nodes,
    takeTurn: createTurns(),
    note: (node: SimulatedNode, act: EffectAct): void => {
      effects.push({ ...act, node: node.name, boot: node.boot(), atEpochMs: Date.now() });
      if (effects.length > maxEffects) effects.shift();
    },
    /** Everything that was noted, in the order in which it happened. */
    effects: (): readonly Effect[] => [...effects],
    /**
     * Lets Macs go down and come up, and daemons come and go, as the model says; to be called outside of a turn. One
     * after the other: a fault that is cleared while its Mac still starts is over when the Mac has started.
     */
    follow: (): Promise<void> =>
      takeFollow(async () => {
        await followPower();
        await followDaemons();
      }),
    /** Keeps the state, and brings every file of every node in line with it; to be called in a turn. */
    settle: async (): Promise<void> => {
      const state = model.save();
      if (state !== undefined) await saveState(folder, state);
      await Promise.all(nodes.map((node) => node.render()));
      await update(nodes);
      await Promise.all(nodes.map((node) => node.wake()));
    },
  };
}

/** A fleet that lives. */
export type LiveFleet = ReturnType<typeof createLiveFleet>;
