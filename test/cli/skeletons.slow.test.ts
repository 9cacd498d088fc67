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
 * Golden files have the differences from a rack without a fault: an empty file means that the fault changes nothing.
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

describe('the JSON output of every command, without its sentences', () => {
  it.each(faults)('matches the recording for the fault %s', { timeout: 900_000 }, async (fault) => {
    const found = comparable(fault, skeletonsOf(await record(fault)));
    if (isWriting) writeGolden(fault, found);
    const golden = comparable(fault, readGolden(fault));
    // A failure names only the skeletons that differ, out of hundreds.
    expect(differences(found, golden)).toEqual(differences(golden, found));
  });
});
