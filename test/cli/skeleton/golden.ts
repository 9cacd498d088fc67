import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FaultName } from '../../../src/sim/faults/faults.ts';
import { uncompared } from './fields.ts';
import { type Recorded, type Skeleton, skeleton } from './skeleton.ts';

/** Skeletons by the name of the recording, such as `all plan` or `all-but-one facts studio-1 routes`. */
export type Skeletons = Readonly<Record<string, Skeleton>>;

const folder = fileURLToPath(new URL('../golden/skeletons/', import.meta.url));
const pathOf = (fault: FaultName | 'none'): string => `${folder}${fault}.txt`;

const isRecord = (value: Skeleton | undefined): value is { readonly [name: string]: Skeleton } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Part = readonly [string, Skeleton];

/** One part for a command, and one for each fact of each node, since a fault changes few facts. */
function partsOf(name: string, whole: Skeleton): readonly Part[] {
  if (!name.endsWith(' facts') || !isRecord(whole) || !isRecord(whole['document'])) return [[name, whole]];
  const { nodes, ...document } = whole['document'];
  if (!isRecord(nodes)) return [[name, whole]];
  const facts = Object.entries(nodes).flatMap(([node, held]): readonly Part[] =>
    isRecord(held) ? Object.entries(held).map(([fact, one]) => [`${name} ${node} ${fact}`, one]) : [],
  );
  return [[name, { ...whole, document: { ...document, nodes: Object.keys(nodes) } }], ...facts];
}

/** Skeletons of all recordings, by the Macs with power and by step. */
export const skeletonsOf = (recorded: Readonly<Record<string, Readonly<Record<string, Recorded>>>>): Skeletons =>
  Object.fromEntries(
    Object.entries(recorded).flatMap(([reached, steps]) =>
      Object.entries(steps).flatMap(([name, one]) => partsOf(`${reached} ${name}`, skeleton(one))),
    ),
  );

function read(fault: FaultName | 'none'): Skeletons {
  const lines = readFileSync(pathOf(fault), 'utf8').split('\n').slice(0, -1);
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', text = ''] = line.split('\t');
      return [name, JSON.parse(text) as Skeleton];
    }),
  );
}

/** The entries of `found` that differ from `usual`; a missing one is `null`. */
export function differences(found: Skeletons, usual: Skeletons): Skeletons {
  const names = [...new Set([...Object.keys(usual), ...Object.keys(found)])];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(usual[name]))
      .map((name) => [name, found[name] ?? null]),
  );
}

/** The recordings under a fault that are the same in every run. */
export function comparable(fault: FaultName | 'none', found: Skeletons): Skeletons {
  const names = fault === 'none' ? undefined : uncompared[fault]?.names;
  if (names === undefined) return found;
  return Object.fromEntries(Object.entries(found).filter(([name]) => !names.test(name)));
}

/** The committed skeletons of a fault: those of a rack without a fault, with the differences. */
export function readGolden(fault: FaultName | 'none'): Skeletons {
  const usual = read('none');
  if (fault === 'none') return usual;
  return Object.fromEntries(Object.entries({ ...usual, ...read(fault) }).filter(([, one]) => one !== null));
}

/** Writes the files that {@link readGolden} reads. The files for a rack without a fault must be written first. */
export function writeGolden(fault: FaultName | 'none', found: Skeletons): void {
  const kept = fault === 'none' ? found : differences(found, read('none'));
  mkdirSync(folder, { recursive: true });
  const lines = Object.entries(kept).map(([name, one]) => `${name}\t${JSON.stringify(one)}\n`);
  writeFileSync(pathOf(fault), lines.join(''));
}
