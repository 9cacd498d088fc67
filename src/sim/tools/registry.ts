import { macBehind, type SimulatedFleet } from '../model/fleet.ts';
import { hostname } from './network/hostname.ts';
import { ifconfig } from './network/ifconfig.ts';
import { ipconfig } from './network/ipconfig.ts';
import { networksetup } from './network/networksetup.ts';
import { scutil } from './network/scutil.ts';
import { csrutil } from './settings/csrutil.ts';
import { defaults } from './settings/defaults.ts';
import { fdesetup } from './settings/fdesetup.ts';
import { mdutil } from './settings/mdutil.ts';
import { plistBuddy } from './settings/plist-buddy.ts';
import { plutil } from './settings/plutil.ts';
import { pmset } from './settings/pmset.ts';
import { socketfilterfw } from './settings/socketfilterfw.ts';
import { tmutil } from './settings/tmutil.ts';
import { df } from './system/df.ts';
import { dscl } from './system/dscl.ts';
import { launchctl } from './system/launchctl.ts';
import { pgrep } from './system/pgrep.ts';
import { powermetrics } from './system/powermetrics.ts';
import { sample } from './system/sample.ts';
import { shutdown } from './system/shutdown.ts';
import { sntp } from './system/sntp.ts';
import { softwareUpdate } from './system/software-update.ts';
import { swVers } from './system/sw-vers.ts';
import { sysctl } from './system/sysctl.ts';
import { uname } from './system/uname.ts';
import { vmStat } from './system/vm-stat.ts';
import { ioclasscount, ioreg } from './thunderbolt/io-registry.ts';
import { ibvDevices, ibvDevinfo, nvram, rdmaCtl } from './thunderbolt/rdma-tools.ts';
import { systemProfiler } from './thunderbolt/system-profiler.ts';
import type { Source, Tool, View, WriteCall, WriteResult } from './tool.ts';

/** One write, whole: on which node, by which tool (`/usr/bin/pmset`), with which words. */
export interface Write extends WriteCall {
  readonly node: string;
  readonly tool: string;
}

/** What a write led to, with everything said. `isKnown` is false when the tool only printed its usage. */
export interface Written extends Required<Omit<WriteResult, 'power'>>, Pick<WriteResult, 'power'> {
  readonly isKnown: boolean;
}

/**
 * What this write does to the fleet, and what the tool prints. Pure: the same fleet and write give the same result.
 * A command line that the tool does not know changes nothing and gets its usage.
 */
export function applyWrite(fleet: SimulatedFleet, { node, tool: path, ...call }: Write): Written {
  const mac = macBehind(fleet, node);
  const tool = tools.find((one) => one.path === path);
  const result = mac === undefined ? undefined : tool?.writes?.write({ fleet, mac }, call);
  if (result !== undefined) return { stdout: '', stderr: '', exitCode: 0, ...result, isKnown: true };
  return { fleet, stdout: '', stderr: tool?.usage.text ?? '', exitCode: tool?.usage.exitCode ?? 127, isKnown: false };
}

/** Every macOS tool that a simulated Mac has, sorted by name. What is not here is absent there: exit 127. */
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

/** One command line of the table, for people. */
interface Form {
  readonly command: string;
  readonly source: Source;
}

/** A word that a person can type. */
const quoted = (word: string): string => (/\s/.test(word) ? `'${word}'` : word);

/** Every command line that this Mac answers, with its source: the whole table. */
export function formsOf(view: View): readonly Form[] {
  return tools.flatMap((tool): readonly Form[] => {
    const writes = (tool.writes?.forms ?? []).map(({ form, source }) => ({ command: `${tool.path} ${form}`, source }));
    if (tool.kind === 'names') {
      const reads = tool.values(view).map(({ name, source }) => ({ command: `${tool.path} ${name}`, source }));
      return [...reads, ...writes];
    }
    if (tool.isPresent?.(view.mac) === false) return [];
    const words = tool.rows(view).map(({ args, source }) => ({
      command: [tool.path, ...args.map((word) => (typeof word === 'string' ? quoted(word) : word.path))].join(' '),
      source,
    }));
    const families = (tool.patterns ?? []).map(({ match, source }) => ({ command: `${tool.path} (${match})`, source }));
    return [...words, ...families, ...writes];
  });
}
