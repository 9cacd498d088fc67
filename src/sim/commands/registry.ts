import { csrutil } from './csrutil.ts';
import { defaults } from './defaults.ts';
import { df } from './df.ts';
import { dscl } from './dscl.ts';
import { fdesetup } from './fdesetup.ts';
import { hostname } from './hostname.ts';
import { ibvDevices } from './ibv-devices.ts';
import { ibvDevinfo } from './ibv-devinfo.ts';
import { ifconfig } from './ifconfig.ts';
import { ioclasscount } from './ioclasscount.ts';
import { ioreg } from './ioreg.ts';
import { ipconfig } from './ipconfig.ts';
import { launchctl } from './launchctl.ts';
import { mdutil } from './mdutil.ts';
import { networksetup } from './networksetup.ts';
import { nvram } from './nvram.ts';
import { pgrep } from './pgrep.ts';
import { plistBuddy } from './plist-buddy.ts';
import { plutil } from './plutil.ts';
import { pmset } from './pmset.ts';
import { powermetrics } from './powermetrics.ts';
import { rdmaCtl } from './rdma-ctl.ts';
import { sample } from './sample.ts';
import { scutil } from './scutil.ts';
import { shutdown } from './shutdown.ts';
import { sntp } from './sntp.ts';
import { socketfilterfw } from './socketfilterfw.ts';
import { softwareUpdate } from './software-update.ts';
import type { Source } from './source.ts';
import { swVers } from './sw-vers.ts';
import { sysctl } from './sysctl.ts';
import { systemProfiler } from './system-profiler.ts';
import { tmutil } from './tmutil.ts';
import type { Tool, View } from './tool.ts';
import { uname } from './uname.ts';
import { vmStat } from './vm-stat.ts';

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
export interface Form {
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
