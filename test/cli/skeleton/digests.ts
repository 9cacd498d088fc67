import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FaultName } from '../../../src/sim/faults/faults.ts';
import { uncompared } from './fields.ts';
import { type Recorded, skeleton } from './skeleton.ts';

type Fault = FaultName | 'none';

/** Skeletons by the name of the recording, such as `all plan`. */
export type Skeletons = Readonly<Record<string, ReturnType<typeof skeleton>>>;

/** The exit code and the digest of each skeleton, separated by a tab. */
type Digests = Readonly<Record<string, string>>;

/** One line per recording: fault, name, exit code, digest. A line like that of a rack without a fault is left out. */
const file = fileURLToPath(new URL('../golden/skeletons.tsv', import.meta.url));

const isCompared = (fault: Fault, name: string): boolean =>
  fault === 'none' || uncompared[fault]?.names.test(name) !== true;

/** Skeletons of the recordings that are the same in every run, by the Macs with power and by step. */
export const skeletonsOf = (
  fault: Fault,
  recorded: Readonly<Record<string, Readonly<Record<string, Recorded>>>>,
): Skeletons =>
  Object.fromEntries(
    Object.entries(recorded)
      .flatMap(([reached, steps]) => Object.entries(steps).map(([name, one]) => [`${reached} ${name}`, one] as const))
      .filter(([name]) => isCompared(fault, name))
      .map(([name, one]) => [name, skeleton(one)]),
  );

export const digestsOf = (skeletons: Skeletons): Digests =>
  Object.fromEntries(
    Object.entries(skeletons).map(([name, one]) => [
      name,
      `${one.exit}\t${createHash('sha256').update(JSON.stringify(one)).digest('hex').slice(0, 8)}`,
    ]),
  );

const recordedLines = (): readonly string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

const linesOf = (fault: Fault): Digests =>
  Object.fromEntries(
    recordedLines()
      .map((line) => line.split('\t'))
      .filter(([ofFault]) => ofFault === fault)
      .map(([, name = '', ...digest]) => [name, digest.join('\t')]),
  );

/** The recorded digests of a fault: those of a rack without a fault, with the differences. */
export function recordedDigests(fault: Fault): Digests {
  const all = Object.entries({ ...linesOf('none'), ...linesOf(fault) });
  return Object.fromEntries(all.filter(([name]) => isCompared(fault, name)));
}

/** Records the digests of a fault. Those of a rack without a fault must be recorded first. */
export function recordDigests(fault: Fault, found: Digests): void {
  const usual = fault === 'none' ? {} : linesOf('none');
  const lines = Object.entries(found)
    .filter(([name, digest]) => usual[name] !== digest)
    .map(([name, digest]) => `${fault}\t${name}\t${digest}`);
  const others = recordedLines().filter((line) => !line.startsWith(`${fault}\t`));
  writeFileSync(file, `${[...others, ...lines].toSorted().join('\n')}\n`);
}

/** Writes each skeleton as a file with one value per line, for `diff -r`. */
export function writeSkeletons(folder: string, skeletons: Skeletons): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, one] of Object.entries(skeletons)) {
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(one, null, 2)}\n`);
  }
}
