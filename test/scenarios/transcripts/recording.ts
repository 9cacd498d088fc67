/** What a simulated fleet really receives, command by command, with the name under which the log has it and its exit. */
import { expect } from 'vitest';
import type { Exit } from '../../../src/model/exit.ts';
import type { RemoteListener } from '../../../src/remote/remote.ts';
import type { Fleet } from '../../../src/sim/host/start-fleet.ts';
import { eventually } from '../sim-fixture.ts';

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
  const names = new Map<string, string>();
  const stop = fleet.onExec(({ node, command, input }) => void received.push({ node, command, input }));
  const nameOf = ({ input, ...one }: Received): string | undefined =>
    names.get(`${keyOf(one)}\0${input}`) ?? names.get(`${keyOf(one)}\0`);
  const hasEnded = (): boolean => {
    const now = recordsByKey(fleet);
    return [...now.values()].every((all) => all.every((exit) => exit !== undefined));
  };
  return {
    listener: (event) => {
      if (event.kind === 'sent') names.set(`${keyOf(event)}\0${event.script ?? ''}`, event.name);
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
        const exit = after.get(key)?.[at];
        if (exit === undefined) throw new Error(`${one.node} has no record of ${one.command.slice(0, 200)}`);
        return { ...one, name: nameOf(one), exit };
      });
    },
  };
}
