import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../src/apply/journal/journal.ts';
import { withThisComputer } from '../../../../src/cli/cluster/this-computer.ts';
import { journalsOf } from '../../../../src/cli/files/places.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { linkEndText } from '../../../../src/model/node.ts';
import { llamaFleet, meshFleet } from '../../../rack/placements.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { fakeRun } from '../console-of.ts';

const { run } = fakeRun({ env: { XDG_STATE_HOME: temporaryFolder().path } });

describe("a fleet with this computer's data", () => {
  it("has each cable's newest measurement, whichever end is listed first", () => {
    const fleet = meshFleet();
    const [first] = fleet.thunderbolt.links;
    const ends = first?.ends.map(linkEndText).toReversed() ?? [];
    const measured = (runId: string, verdict: 'dead' | 'unrated' | 'unknown'): void => {
      const journal = openJournal(journalsOf(run, fleet.name), runId, run.secrets);
      const begun = { phase: 'run', cluster: fleet.name, verb: 'cables', controller: 'test' } as const;
      journal.write(begun);
      journal.write({ phase: 'measured', ends, verdict });
      journal.close();
    };
    const measuredIn = (one: DesiredFleet) => Object.values(withThisComputer(run, one).thunderbolt.measured ?? {});
    expect(measuredIn(fleet)).toEqual([]);
    measured('20261123T100000-zz', 'unknown');
    expect(measuredIn(fleet)).toEqual([{ at: expect.any(String), carries: 'unknown' }]);
    measured('20261124T100000-aa', 'dead');
    expect(measuredIn(fleet)).toEqual([{ at: expect.any(String), carries: 'nothing' }]);
    expect(measuredIn({ ...fleet, placements: [] })).toEqual([]);
    measured('20261125T100000-bb', 'unrated');
    expect(measuredIn(fleet)).toEqual([{ at: expect.any(String), carries: 'rdma' }]);
    // A measurement without a verdict is remembered, but does not hide the older one.
    measured('20261126T100000-cc', 'unknown');
    expect(measuredIn(fleet)).toEqual([{ at: expect.any(String), carries: 'rdma', triedAt: expect.any(String) }]);
  });

  it('has the native probe as Base64, only for a runtime with a cache', () => {
    const programOf = (cache: 'none' | 'verified') =>
      withThisComputer(run, llamaFleet({ runtime: { cache } }), () => import.meta.filename).nativeProgram;
    expect(programOf('none')).toBeUndefined();
    expect(Buffer.from(programOf('verified') ?? '', 'base64')).toEqual(readFileSync(import.meta.filename));
    expect(withThisComputer(run, llamaFleet({ runtime: { cache: 'verified' } }), () => undefined)).not.toHaveProperty(
      'nativeProgram',
    );
  });
});
