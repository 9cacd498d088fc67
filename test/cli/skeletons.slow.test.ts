/**
 * The `--json` output of every command without its sentences: exit codes, diagnostic codes, subjects, counts, effects,
 * steps and their order, states, facts. A change of texts leaves all of it equal.
 *
 * Covered: each command with `--json` that can reach a node, with `--sim` and `--yes`, on three Macs with a published
 * placement over TCP on the `command` driver. The commands run under each fault of the simulator and under none. Then the
 * fault is set again, a Mac that it does not name loses its power, and all commands run again. They run one after
 * another, so each starts from the state that the earlier ones left.
 *
 * Not covered: other drivers and RDMA; `rollback` to an older version, which no node has; options that change what a
 * command does (`cables --identify`, `--watch`, `logs --follow`, `plan --out`, `start --fallback`); interrupted commands;
 * `launch`, which has no `--json`; the keeper, which would repair a fault at any time.
 *
 * The digests in golden/skeletons.tsv have lines only for outputs that differ from a rack without a fault. If a digest
 * differs, the new skeletons are written into a folder, and the failure explains how to compare them.
 *
 * A fault takes about a minute of CPU time. `npm test` tries none, `.ci/run` no fault and one that the commit draws, and
 * `npm run nightly` all. To record:
 * `MESHWRIGHT_SKELETONS=write MESHWRIGHT_DEPTH=whole MESHWRIGHT_TESTS=all npx vitest run test/cli/skeletons.slow.test.ts`
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';
import { sampleOf } from '../sample.ts';
import {
  digestsOf,
  recordDigests,
  recordedDigests,
  type Skeletons,
  skeletonsOf,
  writeSkeletons,
} from './skeleton/digests.ts';
import { record } from './skeleton/record.ts';

/** `write` records the digests; any other value is a folder that receives the skeletons. */
const wanted = process.env['MESHWRIGHT_SKELETONS'];
/** CI records the rack without a fault, or with one, in turn. */
const faults: readonly (FaultName | 'none')[] = sampleOf(
  [['none'] as const, sampleOf(faultNames, { few: 1, oneIn: 42 })],
  { few: 1, oneIn: 2 },
).flat();

/** Two racks at a time, because a rack mostly waits. The first, `none`, is alone: other digests are relative to its. */
const pairs = faults.flatMap((fault, at) => (at === 0 ? [[fault]] : at % 2 === 1 ? [faults.slice(at, at + 2)] : []));

const differing = <T extends Readonly<Record<string, string>>>(one: T, other: T) =>
  Object.fromEntries(Object.entries(one).filter(([name, digest]) => other[name] !== digest));

describe.each(pairs)('the JSON output of every command, without its sentences', (...pair) => {
  it.concurrent.each(pair)('matches the recording for the fault %s', { timeout: 900_000 }, async (fault) => {
    const skeletons = skeletonsOf(fault, await record(fault));
    const digests = digestsOf(skeletons);
    if (wanted === 'write') recordDigests(fault, digests);
    else if (wanted !== undefined) writeSkeletons(join(wanted, fault), skeletons);
    const recorded = recordedDigests(fault);
    const isSame = isDeepStrictEqual(digests, recorded);
    // A failure names only the commands that differ.
    expect(differing(digests, recorded), isSame ? '' : howToCompare(fault, skeletons)).toEqual(
      differing(recorded, digests),
    );
  });
});

function howToCompare(fault: FaultName | 'none', skeletons: Skeletons): string {
  const folder = `dist-skeletons/${fault}`;
  writeSkeletons(folder, skeletons);
  return `The skeletons are in ${folder}. To see what has changed, check out a commit with the recorded digests, and run
MESHWRIGHT_SKELETONS=/tmp/recorded MESHWRIGHT_DEPTH=whole MESHWRIGHT_TESTS=all npx vitest run test/cli/skeletons.slow.test.ts -t 'fault ${fault}$'
diff -ru /tmp/recorded/${fault} ${folder}
Exit codes and digests`;
}
