/** Builds the native probe with its fake verbs library, and runs it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readVerbsReport } from '../../src/native/verbs-report.ts';
import { root } from '../architecture/sources.ts';

/** A device of the fake library. `set` has the fields of `struct settings` in native/test/fake_verbs.h. */
export interface FakeDevice {
  readonly name: string | Buffer;
  readonly guid?: string;
  readonly gids?: ReadonlyMap<number, Buffer>;
  readonly peers?: readonly Buffer[];
  readonly set?: Readonly<Record<string, number>>;
}

/** The probe's JSON; `unknown` and `detail` replace what is not known. */
export interface Report {
  readonly library?: string;
  readonly value?: readonly ReportedDevice[];
  readonly unknown?: string;
  readonly detail?: string;
}

export interface ReportedDevice {
  readonly device?: string;
  readonly guid: string;
  readonly unknown?: string;
  readonly detail?: string;
  readonly ports?: readonly ReportedPort[];
  readonly [key: string]: unknown;
}

export interface ReportedPort {
  readonly state: string;
  readonly gids: readonly { readonly index: number; readonly gid: string; readonly ipv4?: string }[];
  readonly mappedGidIndex?: number;
  readonly [key: string]: unknown;
}

/** How many objects of each kind the probe opened, and how many of them it left open. */
export type Counts = Readonly<Record<string, { readonly opened: number; readonly open: number }>>;

/**
 * True if the probe can be compiled here. With `MESHWRIGHT_NATIVE=required`, a missing compiler is an error; without
 * the variable, vitest reports these tests as skipped.
 */
export function hasCompiler(): boolean {
  if (['c++', 'cc'].every((compiler) => spawnSync(compiler, ['--version']).status === 0)) return true;
  if (process.env['MESHWRIGHT_NATIVE'] === 'required')
    throw new Error('MESHWRIGHT_NATIVE=required, but there is no C++ compiler');
  return false;
}

/** The printed report. @throws if meshwright cannot read it */
export function reportIn(text: string): Report {
  const report = JSON.parse(text) as Report;
  const seen = readVerbsReport(text);
  if (seen.kind === 'unknown' && seen.detail !== report.detail) throw new Error(`${seen.detail}: ${text}`);
  return report;
}

/** The compiled programs, in a folder that `remove` deletes. */
export function buildProbe() {
  const folder = mkdtempSync(join(tmpdir(), 'native-'));
  execFileSync(process.execPath, ['scripts/native.mjs', '--checked', folder], { cwd: root, stdio: 'pipe' });

  /** Runs the probe. A crash, or a finding of a sanitizer, changes its exit code and its stderr. */
  const run = (env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, 'meshwright-probe'), words, { env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  const reportOf = (env: Readonly<Record<string, string>>): Report => {
    const { status, stdout, stderr } = run(env);
    if (status !== 0 || stderr !== '') throw new Error(`the probe exited with ${status}: ${stderr}`);
    return reportIn(stdout);
  };

  /** Probes the fake library with these devices. */
  const probe = (devices: readonly FakeDevice[], global: readonly string[] = [], library = 'fake-verbs') => {
    const [input, counts] = [join(folder, 'input'), join(folder, 'counts')];
    writeFileSync(input, [...global, ...devices.flatMap(linesOf), ''].join('\n'));
    rmSync(counts, { force: true });
    const report = reportOf({
      MESHWRIGHT_VERBS_LIBRARY: join(folder, `${library}.so`),
      MESHWRIGHT_FAKE_VERBS: input,
      MESHWRIGHT_FAKE_VERBS_COUNTS: counts,
    });
    return { report, counts: JSON.parse(readFileSync(counts, 'utf8')) as Counts };
  };

  /** Runs a module that imports from src, in a process that can load the addon with its sanitizers (Linux). */
  const runWithAddon = (code: string, env: Readonly<Record<string, string>>) => {
    const preload = execFileSync('c++', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim();
    // Node itself does not free everything at its end.
    const sanitizers = { LD_PRELOAD: preload, ASAN_OPTIONS: 'detect_leaks=0' };
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '-e', code], {
      cwd: root,
      env: { ...process.env, ...sanitizers, ...env },
      encoding: 'utf8',
    });
    if (status !== 0 || stderr !== '') throw new Error(`the process exited with ${status}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  };

  return { folder, run, reportOf, runWithAddon, probe, remove: () => rmSync(folder, { recursive: true }) };
}

export const linesOf = ({
  name,
  guid = '0200000000000001',
  gids = new Map(),
  peers = [],
  set = {},
}: FakeDevice): readonly string[] => [
  `device ${Buffer.from(name).toString('hex')}00`,
  `guid ${guid}`,
  ...Object.entries(set).map(([field, value]) => `set ${field} ${value}`),
  ...[...gids].map(([index, gid]) => `gid ${index} ${gid.toString('hex')}`),
  ...peers.map((gid) => `peer ${gid.toString('hex')}`),
];
