import { readFileSync, writeFileSync } from 'node:fs';
import { type ExampleDriver, exampleDrivers } from '../../src/cli/sim/sim-example.ts';
import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';

/** What a serving pair of Macs showed within a minute after a fault, and where doctor's first commands led. */
export interface FaultEffect {
  readonly ask: 'answer' | 'no answer';
  /** The state of the placement in `status`. */
  readonly status: string;
  /** The codes of errors and warnings in `doctor`, each once. */
  readonly doctor: readonly string[];
  /** The commands that the blind follower typed, without `meshwright` and `--sim`. */
  readonly typed: readonly string[];
  readonly end: 'serving' | 'manual step';
}

/** Faults that the keeper, whose rounds are a minute apart, may repair before the observation, or just after it. */
const kept: readonly FaultName[] = ['gid-missing', 'bridge-rebuilt'];

/** Faults that change the addresses again and again, in turn with the keeper. */
const fought: readonly FaultName[] = ['daemon-conflict', 'internet-sharing'];

/** True if a keeper may have repaired or changed it by the time that a command looks. */
export const isKeptOrFought = (fault: FaultName): boolean => [...kept, ...fought].includes(fault);

/** True if the keeper has changed what a fault shows, so that its row was not seen, but nothing else is wrong. */
export function isKept(fault: FaultName, effect: FaultEffect, row: FaultEffect | undefined): boolean {
  const { ask, doctor, typed, end } = effect;
  if (kept.includes(fault)) return ask === 'answer' && typed.length === 0 && end === 'serving';
  return fought.includes(fault) && end === row?.end && row.doctor.some((code) => doctor.includes(code));
}

/** The transport of each driver's example: the reference program of `command` knows only TCP by default. */
export const usualTransport = (driver: ExampleDriver): 'rdma' | 'tcp' => (driver === 'command' ? 'tcp' : 'rdma');

const file = new URL('../cases/fault-effects.tsv', import.meta.url);
const list = (text: string): readonly string[] => (text === '' ? [] : text.split(', '));
const keyOf = (fault: string, driver: string): string => `${fault}\t${driver}`;

/** Reads the recorded rows. */
function readRows(): Map<string, FaultEffect> {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [fault = '', driver = '', ask, status = '', doctor = '', typed = '', end] = line.split('\t');
      const effect = { ask, status, doctor: list(doctor), typed: list(typed), end } as FaultEffect;
      return [keyOf(fault, driver), effect];
    }),
  );
}

/** The recorded effect of a fault on a placement with this driver, if there is one. */
export const recordedEffect = (fault: FaultName, driver: ExampleDriver): FaultEffect | undefined =>
  readRows().get(keyOf(fault, driver));

/** Writes one row, in the order of the faults and drivers. */
export function recordEffect(fault: FaultName, driver: ExampleDriver, effect: FaultEffect): void {
  const rows = readRows().set(keyOf(fault, driver), effect);
  const lines = faultNames.flatMap((name) =>
    exampleDrivers.flatMap((one) => {
      const row = rows.get(keyOf(name, one));
      return row === undefined
        ? []
        : [[name, one, row.ask, row.status, row.doctor.join(', '), row.typed.join(', '), row.end].join('\t')];
    }),
  );
  writeFileSync(file, `${['fault\tdriver\task\tstatus\tdoctor\ttyped\tend', ...lines].join('\n')}\n`);
}
