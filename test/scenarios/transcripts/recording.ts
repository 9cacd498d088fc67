/** What a simulated fleet really receives, command by command, with the name under which the log has it and its exit. */
import { expect } from 'vitest';
import type { Exit } from '../../../src/model/probe.ts';
import type { RemoteListener } from '../../../src/remote/remote.ts';
import type { Fleet } from '../../../src/sim/hosts/control/start-fleet.ts';
import { eventually } from '../../rack/running.ts';

/** One command as a node received it. */
export interface SeenExec {
  readonly node: string;
  readonly command: string;
  readonly input: string;
  /** As in the log; undefined for a command that the log does not know. */
  readonly name: string | undefined;
  readonly exit: Exit;
}

/** A recording that goes on. */
export interface Recording {
  /** To be given to observations and runs: names the commands that they send. */
  readonly listener: RemoteListener;
  /** Ends it, once every command has ended, and gives the commands in the order of their arrival. */
  readonly end: () => Promise<readonly SeenExec[]>;
}

/** What the controller says that it sent, and how it says that this ended. */
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

/** The commands of the fleet's own records, in the order of their arrival, by node and text. */
function recordsByKey(fleet: Fleet): ReadonlyMap<string, readonly (Exit | undefined)[]> {
  const found = new Map<string, (Exit | undefined)[]>();
  for (const one of fleet.execs()) {
    const all = found.get(keyOf(one)) ?? [];
    found.set(keyOf(one), [...all, one.exit]);
  }
  return found;
}

/** Records what arrives from now on. */
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
        // All scripts of root have one command line: which record is whose the node does not say.
        const exit = known?.exit === undefined || known.exit.kind === 'unknown' ? after.get(key)?.[at] : known.exit;
        if (exit === undefined) throw new Error(`${one.node} has no record of ${one.command.slice(0, 200)}`);
        return { ...one, name: known?.name, exit };
      });
    },
  };
}
