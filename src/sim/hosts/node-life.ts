import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ailments } from '../model/fleet.ts';
import type { Launchd } from './launchd.ts';
import { clearVolatile } from './node-root.ts';
import type { EffectAct } from './records.ts';
import type { SshDoor } from './ssh/ssh-door.ts';

/** Whether a node can be reached: `down` until somebody presses its button. */
export type Power = 'up' | 'going-down' | 'down' | 'starting';

/** What the starts and ends of one node are made of. */
export interface NodeLifeParts {
  readonly root: string;
  /** Whatever answers at the node's address. */
  readonly door: SshDoor;
  readonly launchd: Launchd;
  /** Ends every process of the node, at once. */
  readonly endProcesses: () => Promise<void>;
  /** Starts what a node needs before its services start; nothing when absent. */
  readonly startProcesses?: (mark: string) => Promise<void>;
  /** Cuts the node from its network, where the host can: a Mac without power answers nothing. */
  readonly fallSilent?: () => Promise<void>;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  readonly ailments: () => Ailments;
  /** The number of the boot session has changed in the model, and every file with it. */
  readonly startModel: () => Promise<void>;
  /** FileVault is unlocked in the model, and every file with it. */
  readonly unlockModel: () => Promise<void>;
  /** Names the present boot session. */
  readonly mark: () => string;
  readonly note: (act: EffectAct) => void;
  readonly objectTo: (line: string) => Promise<void>;
}

/** The boot sessions of one node. */
export interface NodeLife {
  readonly power: () => Power;
  /** Whether macOS runs there, reached or not: what launchd starts may ask and change before anybody gets in. */
  readonly isRunning: () => boolean;
  /** Begins to go down, and comes back where asked; resolves when it listens again, or is off. */
  readonly restart: (to: 'up' | 'off', by: 'shutdown' | 'hands') => Promise<void>;
  /** Ends everything in the middle of what it does, and leaves the Mac off. */
  readonly cutPower: () => Promise<void>;
  /** The kernel panics: ends everything in the middle of what it does, and starts again by itself. */
  readonly panic: () => Promise<void>;
  /** Presses the button of a Mac that is off; resolves when it listens. */
  readonly powerOn: () => Promise<void>;
  /** Somebody gave FileVault its password: goes silent, starts macOS, and listens again. */
  readonly unlock: () => Promise<void>;
  /** The fleet ends: nothing starts any more. Resolves when nothing is under way. */
  readonly close: () => Promise<void>;
}

/** How long an idle Mac takes to stop its services and to answer on its network again: 17 s, as SQCU measured it. */
const shutdownMs = 5_000;
const bootMs = 12_000;
/** What something that does not stop adds, until the watchdog resets the Mac: 253 s in all, measured there as well. */
const slowMs = 236_000;

/** The file by which whoever stands outside sees whether a node is up, and which mark its processes carry. */
export const bootFilePath = '/.sim/boot';

/** Writes down that the node is up, with the mark of this boot session. */
export const writeBootFile = (root: string, mark: string): Promise<void> =>
  writeFile(join(root, bootFilePath), `${mark}\n`);

/** The ways from one power to the other. */
function stagesOf(parts: NodeLifeParts, now: { power: Power; isRunning: boolean }, signal: AbortSignal) {
  const { door, launchd, root, scaledMs } = parts;
  const wait = (macMs: number): Promise<void> => pause(scaledMs(macMs), undefined, { signal }).catch(() => undefined);
  const end = async (): Promise<void> => {
    launchd.cut();
    await parts.endProcesses();
    now.isRunning = false;
    now.power = 'down';
  };
  return {
    goDown: async (): Promise<void> => {
      door.refuse();
      await rm(join(root, bootFilePath), { force: true });
      await launchd.shutdown();
      await wait(shutdownMs + (parts.ailments().isSlowToStop ? slowMs : 0));
      door.cut();
      await end();
    },
    loseCurrent: async (): Promise<void> => {
      now.power = 'going-down';
      if (parts.fallSilent === undefined) {
        door.refuse();
        door.cut();
      } else {
        door.fallSilent();
        // The link goes first, or the kernel of this machine would tell everybody that the connections are over.
        await parts.fallSilent();
      }
      await rm(join(root, bootFilePath), { force: true });
      await end();
    },
    startMacos: async (): Promise<void> => {
      now.power = 'starting';
      door.refuse();
      door.cut();
      await wait(bootMs);
      if (signal.aborted) return;
      await parts.unlockModel();
      await door.listen();
      now.power = 'up';
    },
    comeUp: async (): Promise<void> => {
      now.power = 'starting';
      await wait(bootMs);
      if (signal.aborted) return;
      await clearVolatile(root);
      await parts.startProcesses?.(parts.mark());
      now.isRunning = true;
      await parts.startModel();
      await writeBootFile(root, parts.mark());
      parts.note({ kind: 'boot' });
      await door.listen();
      now.power = 'up';
    },
  };
}

/** Starts the life of a node that is up. */
export function createNodeLife(parts: NodeLifeParts): NodeLife {
  const now: Parameters<typeof stagesOf>[1] = { power: 'up', isRunning: true };
  const ending = new AbortController();
  const { signal } = ending;
  const { goDown, loseCurrent, comeUp, startMacos } = stagesOf(parts, now, signal);
  let under: Promise<void> = Promise.resolve();

  const begin = (act: () => Promise<void>): Promise<void> => {
    under = act().catch((error: unknown) => parts.objectTo(`the simulator: ${String(error)}`));
    return under;
  };
  const goAndReturn = (go: () => Promise<void>, isStaying: boolean): Promise<void> =>
    begin(async () => {
      await go();
      if (!isStaying) await comeUp();
    });
  return {
    power: () => now.power,
    isRunning: () => now.isRunning,
    restart: (to, by) => {
      parts.note({ kind: to === 'up' ? 'reboot' : 'power-off', by });
      if (now.power !== 'up' || signal.aborted) return under;
      now.power = 'going-down';
      return goAndReturn(goDown, to === 'off' || parts.ailments().isStayingOff);
    },
    cutPower: async () => {
      await under;
      if (now.power === 'up') await begin(loseCurrent);
    },
    panic: async () => {
      await under;
      if (now.power === 'up' && !signal.aborted) await goAndReturn(loseCurrent, parts.ailments().isStayingOff);
    },
    powerOn: async () => {
      await under;
      if (now.power === 'down' && !signal.aborted) await begin(comeUp);
    },
    unlock: async () => {
      await under;
      if (now.power === 'up' && !signal.aborted) await begin(startMacos);
    },
    close: async () => {
      ending.abort();
      await under;
    },
  };
}
