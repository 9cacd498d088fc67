/**
 * What verbs say in `--json` once every sentence is taken out: exit codes, diagnostic codes, subjects, counts, effects,
 * steps and their order, states, facts. A change that is to change no behavior leaves all of it equal.
 *
 * Covered: each verb with `--json` that can reach a node, with `--sim` and `--yes`, on three Macs with a published
 * placement over TCP on the `command` driver. First under each fault of the simulator and under none; then the fault is
 * set once more, a Mac that it does not name loses its power, and all verbs run again. Verbs run one after the other, so
 * each sees what those before it have left.
 *
 * Not covered: other drivers and RDMA; `rollback` to an older version, which no node has; options that change what a verb
 * does (`cables --identify`, `--watch`, `logs --follow`, `plan --out`, `start --fallback`); verbs that were cut off;
 * `launch`, which has no `--json`; the keeper, which would mend a fault at a moment of its own.
 *
 * Golden files have what differs from a rack without a fault: an empty one says that a fault changes nothing.
 *
 * A fault takes about a minute of CPU time. `npm test` tries none, `.ci/run` no fault and one that the commit draws, and
 * `npm run nightly` all. To record:
 * `MESHWRIGHT_SKELETONS=write MESHWRIGHT_DEPTH=whole MESHWRIGHT_TESTS=all npx vitest run test/cli/skeletons.slow.test.ts`
 */
import { describe, expect, it } from 'vitest';
import { type FaultName, faultNames } from '../../src/sim/faults/faults.ts';
import { sampleOf } from '../sample.ts';
import { comparable, differences, readGolden, skeletonsOf, writeGolden } from './skeleton/golden.ts';
import { record } from './skeleton/record.ts';

const isWriting = process.env['MESHWRIGHT_SKELETONS'] === 'write';
const faults: readonly (FaultName | 'none')[] = ['none', ...sampleOf(faultNames, { few: 1, oneIn: 42 })];

describe('--json of every verb without its sentences', () => {
  it.each(faults)('is as recorded under the fault %s', { timeout: 900_000 }, async (fault) => {
    const found = comparable(fault, skeletonsOf(await record(fault)));
    if (isWriting) writeGolden(fault, found);
    const golden = comparable(fault, readGolden(fault));
    // Of hundreds of skeletons, a failure names those that differ.
    expect(differences(found, golden)).toEqual(differences(golden, found));
  });
});
