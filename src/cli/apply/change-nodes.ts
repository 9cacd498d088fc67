import { dirname } from 'node:path';
import { type Journal, newRunId, openJournal } from '../../apply/journal/journal.ts';
import { thisController } from '../../apply/lease/controller.ts';
import { once } from '../../apply/once.ts';
import type { RunOptions } from '../../apply/open-run.ts';
import type { RunEvent, RunListener } from '../../apply/run-events.ts';
import { type RunDrawing, showRun } from '../../apply/show-run.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { NodeName } from '../../model/node.ts';
import { needsToken } from '../../model/step.ts';
import { requireClusterFile } from '../cluster/open-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { journalsOf } from '../files/places.ts';
import { observeLimits } from '../look/observe-fleet.ts';
import { readToken } from '../sources/hub-source.ts';
import { missingIfRefused } from '../sources/secrets.ts';
import { isLive, showEvent } from '../terminal/console.ts';
import { passwordOf, unlockWithoutPerson } from '../unlock/unlock-by-itself.ts';
import { timingFor } from '../use-limits.ts';
import { parseDuration, type Run, textOption, usageError } from '../verb.ts';
import { plainView, type RunView, sayLine } from './plain-view.ts';
import { leaseText } from './run-lines.ts';

export const runView = (run: Run): RunView =>
  isLive(run.console) && !run.options.json ? drawnView(run) : plainView(run);

function drawnView(run: Run): RunView {
  const { columns, hasUnicode, hasColor } = run.console;
  let drawing: RunDrawing | undefined;
  const end = async (): Promise<void> => {
    const ended = drawing;
    drawing = undefined;
    await ended?.end();
    run.console.drawing = undefined;
  };
  return {
    listen: (event) => {
      drawing?.listen(event);
      // Lease events are not shown in a node's line.
      if (event.kind === 'lease' && (event.state === 'waiting' || event.state === 'expired'))
        run.console.err(`${leaseText(event)}\n`);
    },
    begin: ({ steps }) => {
      drawing = showRun(steps, { stream: process.stdout, columns, hasUnicode, hasColor });
      run.console.drawing = drawing.note;
    },
    note: async (text) => {
      await end();
      sayLine(run, text);
    },
    end,
  };
}

/** Prepares a run of plans. Writes nothing before `begin`, which opens the journal. */
export async function prepareRun(
  run: Run,
  change: Pick<RunOptions, 'verb' | 'desired' | 'onLeased' | 'onWithdraw' | 'passwordOf' | 'orderUpdate'>,
  { ways, listen }: { readonly ways: SshTargets; readonly listen: RunListener },
) {
  const { desired } = change;
  const folder = journalsOf(run, desired.name);
  const leaseWaitMs = readLeaseWait(run);
  const token = once(() => missingIfRefused(readToken(run, desired, dirname(requireClusterFile(run)))));
  const prepared = {
    ...observeLimits(run),
    ...change,
    ways: await ways.toAll(desired.nodes),
    controller: await thisController(),
    timing: timingFor(run),
    leaseWaitMs,
    onEvent: (event: RunEvent) => {
      run.log?.write(event);
      showEvent(run, event);
      listen(event);
    },
    unlock: unlockWithoutPerson(run, { fleet: desired, ways }),
    passwordOf: change.passwordOf ?? ((node: NodeName) => passwordOf(run, node, { fleet: desired, ways })),
    token,
  };
  let journal: Journal | undefined;
  return {
    /** Before anything changes. @throws FleetError `secret/missing` if a step of the plan needs a missing token */
    requireToken: async ({ steps }: Plan): Promise<void> => {
      const found = steps.some(({ act }) => needsToken(act)) ? await token() : undefined;
      if (found?.kind === 'missing') throw new FleetError([found.diagnostic]);
    },
    /** Opens a journal of its own each time. @throws FleetError `journal/cannot-write` */
    begin: (): RunOptions => {
      journal?.close();
      journal = openJournal(folder, run.log?.nextRunId() ?? newRunId(new Date()), run.secrets);
      return { ...prepared, journal };
    },
    close: () => journal?.close(),
  };
}

/** @throws FleetError `cli/usage` */
function readLeaseWait(run: Run): number {
  const text = textOption(run, 'leaseWait');
  const ms = text === undefined ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw usageError(
    `"${text}" is not a valid time for --lease-wait.`,
    'Enter up to a day in ms, s, m or h, such as 30s.',
  );
}
