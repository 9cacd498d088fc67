/** The commands that a simulated fleet receives, each with its name in the log and its exit. */
import { expect } from 'vitest';
import type { Exit } from '../../../src/model/probe.ts';
import type { RemoteListener } from '../../../src/remote/remote.ts';
import type { Fleet } from '../../../src/sim/hosts/control/start-fleet.ts';
import { eventually } from '../../rack/running.ts';

/** A command that a node received. */
export interface SeenExec {
  readonly node: string;
  readonly command: string;
  readonly input: string;
  /** The command's name in the log; undefined for a command that the log does not contain. */
  readonly name: string | undefined;
  readonly exit: Exit;
}

/** A recording in progress. */
export interface Recording {
  /** The listener for observations and runs, which names their commands. */
  readonly listener: RemoteListener;
  /** Ends the recording after every command ended, and returns the commands in order of arrival. */
  readonly end: () => Promise<readonly SeenExec[]>;
}

/** A command and its end according to the controller. */
interface Sent {
  readonly node: string;
  readonly name: string;
  readonly command: string;
  readonly script?: string;
  exit?: Exit;
  isReceived: boolean;
}

type Received = Pick<SeenExec, 'node' | 'command' | 'input'>;

const keyOf = ({ node, command }: Pick<SeenExec, 'node' | 'command'>): string => `${node}\0${command}`;

/** The commands in the fleet's own records, in order of arrival, by node and text. */
function recordsByKey(fleet: Fleet): ReadonlyMap<string, readonly (Exit | undefined)[]> {
  const found = new Map<string, (Exit | undefined)[]>();
  for (const one of fleet.execs()) {
    const all = found.get(keyOf(one)) ?? [];
    found.set(keyOf(one), [...all, one.exit]);
  }
  return found;
}

/** Records all commands from now on. */
export function startRecording(fleet: Fleet): Recording {
  const before = recordsByKey(fleet);
  const received: Received[] = [];
  const sent: Sent[] = [];
  const stop = fleet.onExec(({ node, command, input }) => void received.push({ node, command, input }));
  const sentAs = ({ node, command, input }: Received): Sent | undefined => {
    const isSame = (one: Sent): boolean =>
      !one.isReceived && one.node === node && one.command === command && (one.script ?? input) === input;
    const found = sent.find(isSame);
    if (found !== undefined) found.isReceived = true;
    return found;
  };
  const hasEnded = (): boolean => {
    const now = recordsByKey(fleet);
    return [...now.values()].every((all) => all.every((exit) => exit !== undefined));
  };
  return {
    listener: (event) => {
      const { node } = event;
      if (event.kind === 'sent') sent.push({ ...event, isReceived: false });
      if (event.kind !== 'answered') return;
      const first = sent.find((one) => one.node === node && one.name === event.name && one.exit === undefined);
      if (first !== undefined) first.exit = event.exit;
    },
    end: async () => {
      expect(await eventually(hasEnded)).toBe(true);
      stop();
      const after = recordsByKey(fleet);
      const taken = new Map<string, number>();
      return received.map((one): SeenExec => {
        const key = keyOf(one);
        const at = taken.get(key) ?? before.get(key)?.length ?? 0;
        taken.set(key, at + 1);
        const known = sentAs(one);
        // All root scripts have the same command line, so the node cannot match its records to them.
        const exit = known?.exit === undefined || known.exit.kind === 'unknown' ? after.get(key)?.[at] : known.exit;
        if (exit === undefined)
          throw new Error(`the log has no record for ${one.node} of ${one.command.slice(0, 200)}`);
        return { ...one, name: known?.name, exit };
      });
    },
  };
}
