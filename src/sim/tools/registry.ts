import type { Word } from '../../model/probe.ts';
import { macBehind, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { dscl } from './accounts.ts';
import { df, pgrep, powermetrics, sample, vmStat } from './activity.ts';
import { mdutil, tmutil } from './background.ts';
import { valuesIn } from './forms.ts';
import { ifconfig } from './ifconfig.ts';
import { ioclasscount, ioreg } from './io-registry.ts';
import { ipconfig } from './ipconfig.ts';
import { launchctl } from './launchctl.ts';
import { softwareUpdate, swVers, uname } from './macos.ts';
import { hostname, scutil } from './names.ts';
import { networksetup } from './networksetup.ts';
import { pmset, shutdown } from './power.ts';
import { defaults, plistBuddy, plutil } from './property-lists.ts';
import { ibvDevices, ibvDevinfo, nvram, rdmaCtl } from './rdma-tools.ts';
import { csrutil, fdesetup, socketfilterfw } from './security.ts';
import { sntp } from './sntp.ts';
import { sysctl } from './sysctl.ts';
import { systemProfiler } from './system-profiler.ts';
import type { Tool, ToolView, WriteResult } from './tool.ts';

/** One complete write: the node, the tool (such as `/usr/bin/pmset`) and its arguments. */
export interface Write {
  readonly node: string;
  readonly tool: string;
  /** All arguments after the tool's name; paths are without the node's root prefix. */
  readonly args: readonly string[];
  /** Whether the caller runs under the node's sudo, or as a system service. */
  readonly isRoot: boolean;
}

/** The result of a write, including all output. `isKnown` is false if the tool only printed its usage. */
export interface Written extends Required<Omit<WriteResult, 'after' | 'power'>>, Pick<WriteResult, 'power'> {
  readonly fleet: SimulatedFleet;
  readonly isKnown: boolean;
}

/** Applies a write to the fleet and returns the tool's output. An unknown command line only prints the usage. */
export function applyWrite(fleet: SimulatedFleet, { node, tool: path, ...call }: Write): Written {
  const mac = macBehind(fleet, node);
  const tool = tools.find((one) => one.path === path);
  const result = mac === undefined || tool === undefined ? undefined : answerOf(tool, { fleet, mac }, call);
  if (result === undefined) {
    return { fleet, stdout: '', stderr: tool?.usage.text ?? '', exitCode: tool?.usage.exitCode ?? 127, isKnown: false };
  }
  const { after, ...said } = result;
  const changed = after === undefined ? fleet : withMac(fleet, mac?.name ?? node, (one) => ({ ...one, ...after }));
  return { fleet: changed, stdout: '', stderr: '', exitCode: 0, ...said, isKnown: true };
}

/** Answers with the first matching form, or with the row for a file that was changed since the simulator wrote it. */
function answerOf(
  tool: Tool,
  view: ToolView,
  { args, isRoot }: Pick<Write, 'args' | 'isRoot'>,
): WriteResult | undefined {
  for (const { form, change } of tool.writes ?? []) {
    const words = valuesIn(form, args);
    if (words !== undefined) return change?.({ ...view, words, isRoot });
  }
  const line = args.join('\0');
  const row = tool.rows?.(view).find((one) => one.ifUnchanged !== undefined && one.args.map(plain).join('\0') === line);
  return row && { stdout: row.stdout ?? '', stderr: row.stderr ?? '', exitCode: row.exitCode ?? 0 };
}

const plain = (word: Word): string => (typeof word === 'string' ? word : word.path);

/** All macOS tools of a simulated Mac, sorted by name. Other tools do not exist there (exit 127). */
export const tools: readonly Tool[] = [
  plistBuddy,
  csrutil,
  defaults,
  df,
  dscl,
  fdesetup,
  hostname,
  ibvDevices,
  ibvDevinfo,
  ifconfig,
  ioclasscount,
  ioreg,
  ipconfig,
  launchctl,
  mdutil,
  networksetup,
  nvram,
  pgrep,
  plutil,
  pmset,
  powermetrics,
  rdmaCtl,
  sample,
  scutil,
  shutdown,
  sntp,
  socketfilterfw,
  softwareUpdate,
  swVers,
  sysctl,
  systemProfiler,
  tmutil,
  uname,
  vmStat,
];
