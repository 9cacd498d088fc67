import { type ExitCode, exitCode } from '../verb/exit-codes.ts';

/** A command that is really typed, and how it has to end. */
interface TypedCommand {
  /** Behind `meshwright`. */
  readonly words: readonly string[];
  readonly exits: ExitCode;
}

/** A sentence or two, then commands. */
export interface Scene {
  readonly says: string;
  readonly types: readonly TypedCommand[];
}

const question = 'Is anybody there?';

const typed = (...words: readonly string[]): TypedCommand => ({ words, exits: exitCode.done });

/** The demo from a text file to a token, and through a hung rank back to one, for the folder of `prepareDemo`. */
export const scenes: readonly Scene[] = [
  {
    says: 'A text file describes four Macs, six cables and a model. It is judged before anything is touched.',
    types: [typed('validate')],
  },
  {
    says: 'Four simulated Macs come up, one SSH server each, cabled as the file says.',
    types: [typed('sim', 'up')],
  },
  {
    says: 'As in a real rack, not all is well: two cables are swapped, one Mac has no RDMA yet, macOS made its bridge, and one Mac falls asleep.',
    types: [
      typed('sim', 'fault', 'cable-swapped', 'studio-4'),
      typed('sim', 'fault', 'rdma-disabled', 'studio-3'),
      typed('sim', 'fault', 'bridge-active', 'studio-2'),
      typed('sim', 'fault', 'power-wrong', 'studio-1'),
    ],
  },
  {
    says: 'What would be done? What only hands at the rack can do comes first.',
    types: [typed('plan', '--sim')],
  },
  {
    says: 'apply shows that plan again and does the part of the machine; the model is copied to four Macs at once. Exit 3 says that the hands are next.',
    types: [{ words: ['apply', '--sim', '--yes'], exits: exitCode.handsNeeded }],
  },
  {
    says: 'Simulated hands do the work list; one Mac starts anew.',
    types: [typed('sim', 'hands')],
  },
  {
    says: 'The next apply looks again, does what is left, and starts one rank on each Mac, all of them or none.',
    types: [typed('apply', '--sim', '--yes')],
  },
  {
    says: 'It answers. The answer is a digest that went through all four ranks over the cables; each mixed in its own copy of the model. Checked again, nothing is left to do.',
    types: [typed('ask', 'chat', question, '--sim'), typed('plan', '--sim')],
  },
  {
    says: 'Then a rank hangs: it still takes connections and answers none. (For the stand-in model, the signal USR1 does that.)',
    types: [
      typed(
        ...['exec', '--sim', 'studio-3', '--', 'sudo', '-n'],
        ...['launchctl', 'kill', 'SIGUSR1', 'system/dev.meshwright.rank.chat'],
      ),
      { words: ['ask', 'chat', question, '--sim'], exits: exitCode.failed },
    ],
  },
  {
    says: 'restart stops all ranks in order and starts them again, in a new generation, which changes the digest. No Mac is rebooted.',
    types: [typed('restart', 'chat', '--sim', '--yes'), typed('ask', 'chat', question, '--sim')],
  },
];
