import { describe, expect, it } from 'vitest';
import type { PlaybookReport } from '../../../../src/apply/playbook-report.ts';
import { closedLines } from '../../../../src/cli/apply/act-on.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { StepReport } from '../../../../src/engine/plan/plan.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { StepOutcome } from '../../../../src/model/step.ts';
import { inFlightAddress, stateAddress } from '../../../../src/rack/placement/endpoint/gateway-steps.ts';
import { stepOn } from '../../../rack/plans.ts';

const report = (ran: StepReport['step'], outcome: StepOutcome, ms = 12): StepReport => ({
  step: ran,
  outcome,
  diagnostics: [],
  ms,
});

const gateway = (node: string, value: 'open' | 'closed', outcome: StepOutcome = 'changed', ms = 12): StepReport =>
  report(
    stepOn(node, `doorman/8080/kimi/${value}`, {
      establishes: [{ node: nodeName(node), ...stateAddress(8_080, 'kimi'), value }],
    }),
    outcome,
    ms,
  );

const wait = (node: string, outcome: StepOutcome, ms = 12): StepReport =>
  report(
    stepOn(node, 'doorman/8080/kimi/wait', {
      act: {
        kind: 'gate',
        expect: [{ node: nodeName(node), ...inFlightAddress(8_080, 'kimi'), value: 0 }],
        aborts: [],
      },
    }),
    outcome,
    ms,
  );

function linesOf(...steps: readonly StepReport[]): readonly string[] {
  const run = { runId: 'r', steps, refusals: [], isInterrupted: true, isLeaseLost: false, diagnostics: [] };
  const task = { kind: 'drain', deadlineMs: 30_000 } as const;
  const work: PlaybookReport['works'][number] = {
    play: 0,
    batch: 0,
    task,
    nodes: [],
    failed: [],
    refusals: [],
    diagnostics: [],
    run,
  };
  return closedLines({ works: [work] }).map(plainText);
}

const opening = 'To reopen it: meshwright start kimi, or the next apply.';

describe('an interrupted drain', () => {
  it('reports the nodes of each closed gateway, and how to reopen it', () => {
    const [one, two] = ['studio-1', 'studio-4'];
    const cut = [gateway(one, 'closed'), wait(one, 'interrupted')];
    expect(linesOf(...cut)).toEqual([`kimi: its gateway on studio-1 stays closed. ${opening}`]);
    expect(linesOf(...cut, gateway(two, 'closed'))).toEqual([
      `kimi: its gateway on studio-1 and studio-4 stays closed. ${opening}`,
    ]);
  });

  it('reports a gateway that it found closed if interrupted while waiting', () => {
    expect(linesOf(wait('studio-1', 'interrupted'))).toEqual([
      `kimi: its gateway on studio-1 stays closed. ${opening}`,
    ]);
  });

  it('reports a gateway that may be closed, but not one that it never reached or has reopened', () => {
    const may = `kimi: its gateway on studio-1 may be closed. ${opening}`;
    expect(linesOf(gateway('studio-1', 'closed', 'interrupted'), wait('studio-1', 'skipped', 0))).toEqual([may]);
    expect(linesOf(gateway('studio-1', 'closed', 'interrupted', 0), wait('studio-1', 'skipped', 0))).toEqual([]);
    expect(linesOf(gateway('studio-1', 'closed'), gateway('studio-1', 'open'))).toEqual([]);
  });
});
