import { randomBytes } from 'node:crypto';
import { type Journal, journalFolder, newRunId, openJournal } from '../../apply/journal/journal.ts';
import { thisController } from '../../apply/lease/controller.ts';
import type { RunEvent, RunListener } from '../../apply/run-events.ts';
import type { RunOptions } from '../../apply/run-options.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Ways } from '../cluster/ways.ts';
import { journalName, stateFolder } from '../files/state-folder.ts';
import { timingFor } from '../terminal/timing.ts';
import { unlockWithoutPerson } from '../unlock/unlock-by-itself.ts';
import { readTimeOption } from '../verb/own-options.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run } from '../verb/verb.ts';

/** What a run is about and who listens to it. */
export interface RunSubject {
  /** Settled. */
  readonly fleet: DesiredFleet;
  readonly ways: Ways;
  readonly verb: string;
  readonly onEvent: RunListener;
  readonly onWithdraw?: RunOptions['onWithdraw'];
  readonly onLeased?: RunOptions['onLeased'];
}

/** A run that may begin. */
export interface PreparedRun {
  /** Begins the journal and gives what the run needs. @throws FleetError `journal/cannot-write` */
  readonly begin: () => RunOptions;
  /** Closes the journal, if there is one. */
  readonly close: () => void;
}

/** Finds out everything that running plans needs; writes nothing yet. */
export async function prepareRun(
  run: Run,
  { fleet, ways, verb, onEvent, onWithdraw, onLeased }: RunSubject,
): Promise<PreparedRun> {
  const folder = journalFolder(stateFolder(run.env), journalName(fleet.name, ways.isSimulated));
  const leaseWaitMs = readTimeOption(run, 'leaseWait', '--lease-wait') ?? 0;
  const prepared = {
    ...useLimits(run),
    ways: await ways.toAll(fleet.nodes),
    desired: fleet,
    verb,
    controller: await thisController(),
    parallel: run.options.parallel,
    newToken: () => randomBytes(16).toString('hex'),
    timing: timingFor(run),
    leaseWaitMs,
    onEvent: (event: RunEvent) => {
      run.log?.write(event);
      onEvent(event);
    },
    ...(onWithdraw === undefined ? {} : { onWithdraw }),
    ...(onLeased === undefined ? {} : { onLeased }),
    unlock: unlockWithoutPerson(run, { fleet, ways }),
  };
  let journal: Journal | undefined;
  return {
    begin: () => {
      journal ??= openJournal(folder, run.log?.nextRunId() ?? newRunId(new Date()));
      return { ...prepared, journal };
    },
    close: () => journal?.close(),
  };
}
