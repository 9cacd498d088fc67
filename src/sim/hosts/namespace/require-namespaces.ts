import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/fleet-error.ts';
import { hostTool } from '../base-tools/all-base-tools.ts';
import { runProgram } from './run-program.ts';

/** What this machine says of itself. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Undefined where there are no such numbers. */
  readonly userNumber: number | undefined;
  readonly find: (program: string) => string | undefined;
  /** Makes one of each namespace and leaves it. @throws Error when the kernel refuses */
  readonly unshare: () => Promise<unknown>;
}

/** Programs of this machine, beside those of every simulated Mac. */
const programs = [
  'ip',
  'ldd',
  'mount',
  'nsenter',
  'pivot_root',
  'setpriv',
  'sshd',
  'sudo',
  'tc',
  'umount',
  'unshare',
  'visudo',
];

const probe = ['--mount', '--net', '--uts', '--ipc', '--pid', '--fork', 'true'];

const thisMachine = (): Machine => ({
  platform: process.platform,
  userNumber: process.getuid?.(),
  find: hostTool,
  unshare: () => runProgram('unshare', probe),
});

/** What keeps a machine from running nodes in namespaces; undefined when nothing does. */
async function whyNot({ platform, userNumber, find, unshare }: Machine): Promise<string | undefined> {
  if (platform !== 'linux') return `This is ${platform}, and only Linux has the namespaces that are needed.`;
  if (userNumber !== 0) return 'Only root can make them.';
  const missing = programs.filter((name) => find(name) === undefined);
  if (missing.length > 0) return `Not found: ${missing.join(', ')}.`;
  return unshare().then(
    () => undefined,
    (error: unknown) => `The kernel refuses them: ${error instanceof Error ? error.message.trim() : String(error)}.`,
  );
}

/** Ends well only where nodes can run in namespaces. @throws FleetError `sim/no-namespaces` */
export async function requireNamespaces(machine: Machine = thisMachine()): Promise<void> {
  const detail = await whyNot(machine);
  if (detail !== undefined) throw new FleetError([diagnose('sim/no-namespaces', { detail })]);
}
