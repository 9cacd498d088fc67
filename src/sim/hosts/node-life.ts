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
  readonly name: string;
  readonly root: string;
  /** Whatever answers at the node's address. */
  readonly door: SshDoor;
  readonly launchd: Launchd;
  /** Ends every process of the node, at once. */
  readonly endProcesses: () => Promise<void>;
  /** Starts what a node needs before its services start; nothing when absent. */
  readonly startProcesses?: () => Promise<void>;
  /** The power is gone from one moment to the next: nobody hears of it, where the host can show that. */
  readonly fallSilent?: () => Promise<void>;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  readonly ailments: () => Ailments;
  /** The number of the boot session has changed in the model, and every file with it. */
  readonly startModel: () => Promise<void>;
  /** FileVault is unlocked in the model, and every file with it. */
  readonly unlockModel: () => Promise<void>;
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

/** What changes over the life of a node. */
interface Moment {
  power: Power;
  isRunning: boolean;
  readonly ending: AbortController;
}

/** The ways from one power to the other. */
function stagesOf(parts: NodeLifeParts, mark: () => string, now: Moment) {
  const { door, launchd, root, scaledMs } = parts;
  const { signal } = now.ending;
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
      await parts.fallSilent?.();
      if (parts.fallSilent === undefined) {
        door.refuse();
        door.cut();
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
      await parts.startProcesses?.();
      now.isRunning = true;
      await parts.startModel();
      await writeBootFile(root, mark());
      parts.note({ kind: 'boot' });
      await door.listen();
      now.power = 'up';
    },
  };
}

/** Starts the life of a node that is up. `mark` names the present boot session. */
export function createNodeLife(parts: NodeLifeParts, mark: () => string): NodeLife {
  const now: Moment = { power: 'up', isRunning: true, ending: new AbortController() };
  const { goDown, loseCurrent, comeUp, startMacos } = stagesOf(parts, mark, now);
  let under: Promise<void> = Promise.resolve();

  const begin = (act: () => Promise<void>): Promise<void> => {
    under = act().catch((error: unknown) => parts.objectTo(`the simulator: ${String(error)}`));
    return under;
  };
  return {
    power: () => now.power,
    isRunning: () => now.isRunning,
    restart: (to, by) => {
      parts.note({ kind: to === 'up' ? 'reboot' : 'power-off', by });
      if (now.power !== 'up' || now.ending.signal.aborted) return under;
      now.power = 'going-down';
      const isStaying = to === 'off' || parts.ailments().isStayingOff;
      return begin(async () => {
        await goDown();
        if (!isStaying) await comeUp();
      });
    },
    cutPower: async () => {
      await under;
      if (now.power === 'up') await begin(loseCurrent);
    },
    panic: async () => {
      await under;
      if (now.power !== 'up' || now.ending.signal.aborted) return;
      const isStaying = parts.ailments().isStayingOff;
      await begin(async () => {
        await loseCurrent();
        if (!isStaying) await comeUp();
      });
    },
    powerOn: async () => {
      await under;
      if (now.power === 'down' && !now.ending.signal.aborted) await begin(comeUp);
    },
    unlock: async () => {
      await under;
      if (now.power === 'up' && !now.ending.signal.aborted) await begin(startMacos);
    },
    close: async () => {
      now.ending.abort();
      await under;
    },
  };
}
