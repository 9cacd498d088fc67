import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ailments } from '../mac.ts';
import type { EffectAct } from './effects.ts';
import type { Launchd } from './launchd.ts';
import { sweepMarked } from './lifeline.ts';
import { clearVolatile } from './node-root.ts';
import type { ProcessGroups } from './process-groups.ts';
import type { NodeServer } from './ssh-server.ts';

/** Whether a node can be reached: `down` until somebody presses its button. */
export type Power = 'up' | 'going-down' | 'down' | 'starting';

/** What the starts and ends of one node are made of. */
export interface NodeLifeParts {
  readonly name: string;
  readonly root: string;
  readonly runId: string;
  readonly server: NodeServer;
  readonly launchd: Launchd;
  readonly groups: ProcessGroups;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  readonly ailments: () => Ailments;
  /** The number of the boot session has changed in the model, and every file with it. */
  readonly startModel: () => Promise<void>;
  readonly note: (act: EffectAct) => void;
  readonly objectTo: (line: string) => Promise<void>;
}

/** The boot sessions of one node. */
export interface NodeLife {
  readonly power: () => Power;
  /** Begins to go down, and comes back where asked; resolves when it listens again, or is off. */
  readonly restart: (to: 'up' | 'off', by: 'shutdown' | 'hands') => Promise<void>;
  /** Presses the button of a Mac that is off; resolves when it listens. */
  readonly powerOn: () => Promise<void>;
  /** The fleet ends: nothing starts any more. Resolves when nothing is under way. */
  readonly close: () => Promise<void>;
}

/** How long a Mac Studio takes, roughly, to stop its services and to answer on its network again. */
const shutdownMs = 8_000;
const bootMs = 40_000;
/** What something that does not stop adds, until it is killed. */
const slowMs = 240_000;

/** The file by which whoever stands outside sees whether a node is up, and which mark its processes carry. */
export const bootFilePath = '/.sim/boot';

/** Writes down that the node is up, with the mark of this boot session. */
export const writeBootFile = (root: string, mark: string): Promise<void> =>
  writeFile(join(root, bootFilePath), `${mark}\n`);

/** Starts the life of a node that is up. `mark` names the present boot session. */
export function createNodeLife(parts: NodeLifeParts, mark: () => string): NodeLife {
  const { server, launchd, root, scaledMs } = parts;
  const ending = new AbortController();
  let power: Power = 'up';
  let under: Promise<void> = Promise.resolve();

  const wait = (macMs: number): Promise<void> =>
    pause(scaledMs(macMs), undefined, { signal: ending.signal }).catch(() => undefined);
  const goDown = async (): Promise<void> => {
    server.refuse();
    await rm(join(root, bootFilePath), { force: true });
    await launchd.shutdown();
    await wait(shutdownMs + (parts.ailments().isSlowToStop ? slowMs : 0));
    server.cut();
    launchd.cut();
    parts.groups.killOwned(parts.name);
    await sweepMarked(`${parts.runId}.${parts.name}`);
    power = 'down';
  };
  const comeUp = async (): Promise<void> => {
    power = 'starting';
    await wait(bootMs);
    if (ending.signal.aborted) return;
    await clearVolatile(root);
    await parts.startModel();
    await writeBootFile(root, mark());
    parts.note({ kind: 'boot' });
    await server.listen();
    power = 'up';
  };
  const begin = (act: () => Promise<void>): Promise<void> => {
    under = act().catch((error: unknown) => parts.objectTo(`the simulator: ${String(error)}`));
    return under;
  };
  return {
    power: () => power,
    restart: (to, by) => {
      parts.note({ kind: to === 'up' ? 'reboot' : 'power-off', by });
      if (power !== 'up' || ending.signal.aborted) return under;
      power = 'going-down';
      const isStaying = to === 'off' || parts.ailments().isStayingOff;
      return begin(async () => {
        await goDown();
        if (!isStaying) await comeUp();
      });
    },
    powerOn: async () => {
      await under;
      if (power === 'down' && !ending.signal.aborted) await begin(comeUp);
    },
    close: async () => {
      ending.abort();
      await under;
    },
  };
}
