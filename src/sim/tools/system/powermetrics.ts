import {
  capture,
  lines,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const sample = capture('powermetrics-cpu-gpu.m3ultra.excerpt.txt', 'public report, Mac Studio M3 Ultra under load');

const forms: readonly WriteForm[] = [
  {
    form: '-n 1 -i 1000 --samplers cpu_power,gpu_power',
    match: "'6:-n 1 -i 1000 --samplers cpu_power,gpu_power'",
    source: sample,
  },
];

/** What it says to others nobody has captured: the product looks at the exit code alone. */
const notRoot = 'powermetrics must be invoked as the superuser';

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  if (args.join(' ') !== forms[0]?.form) return undefined;
  if (!isRoot) return { fleet, stderr: lines(notRoot), exitCode: 1 };
  return {
    fleet,
    stdout: lines(
      `Machine model: ${mac.model.id}`,
      `OS version: ${mac.macos.build}`,
      'E0-Cluster HW active residency:  90.12% (...)',
      'P0-Cluster HW active residency:   0.00% (...)',
      'CPU 0 frequency: 2244 MHz',
      'CPU 0 active residency:  67.95% (...)',
      'CPU 0 idle residency:  32.05%',
      'CPU Power: 8916 mW',
      'GPU Power: 9462 mW',
      'ANE Power: 0 mW',
      'Combined Power (CPU + GPU + ANE): 18378 mW',
      'GPU HW active frequency: 1380 MHz',
      'GPU HW active residency: 100.00% (338 MHz: 0% ... 1380 MHz: 100%)',
      'GPU idle residency:   0.00%',
    ),
  };
}

/** `powermetrics` with the one sample that is known, of a Mac Studio that computes; the same for every simulated Mac. */
const powermetricsWrites: Writes = { forms, write };

/** `powermetrics`, of which one sample is known and which asks for root: it stands among the writes for that alone. */
export const powermetrics: TableTool = {
  kind: 'table',
  path: '/usr/bin/powermetrics',
  rows: () => [],
  writes: powermetricsWrites,
  usage: {
    text: lines('powermetrics: unrecognized arguments'),
    exitCode: 64,
    source: unconfirmed('powermetrics: what it says of arguments that it does not know'),
  },
};
