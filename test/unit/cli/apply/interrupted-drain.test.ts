import { describe, expect, it } from 'vitest';
import { closedLines } from '../../../../src/cli/apply/act-on.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { StepReport } from '../../../../src/engine/plan/plan.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { StepOutcome } from '../../../../src/model/step.ts';
import { inFlightAddress, stateAddress } from '../../../../src/rack/placement/mesh/gateway-steps.ts';
import { stepOn } from '../../../rack/plans.ts';
import { runOf, stepReport, workOf } from './works.ts';

const gateway = (node: string, value: 'open' | 'closed', outcome: StepOutcome = 'changed', ms = 12): StepReport =>
  stepReport(
    stepOn(node, `gateway/8080/kimi/${value}`, {
      establishes: [{ node: nodeName(node), ...stateAddress(8_080, 'kimi'), value }],
    }),
    outcome,
    ms,
  );

function wait(node: string, outcome: StepOutcome, ms?: number): StepReport {
  const none = { node: nodeName(node), ...inFlightAddress(8_080, 'kimi'), value: 0 };
  const act = { kind: 'gate', expect: [none], aborts: [] } as const;
  return stepReport(stepOn(node, 'gateway/8080/kimi/wait', { act }), outcome, ms);
}

function linesOf(...steps: readonly StepReport[]): readonly string[] {
  const task = { kind: 'drain', deadlineMs: 30_000 } as const;
  return closedLines({ works: [workOf({ task, run: { ...runOf(...steps), isInterrupted: true } })] }).map(plainText);
}

const opening = 'To reopen it: meshwright start kimi, or the next apply.';
const closed = (on: string): string => `kimi: its gateway on ${on} stays closed. ${opening}`;

describe('an interrupted drain', () => {
  it('reports the nodes of each closed gateway, and how to reopen it', () => {
    const cut = [gateway('studio-1', 'closed'), wait('studio-1', 'interrupted')];
    expect(linesOf(...cut)).toEqual([closed('studio-1')]);
    expect(linesOf(...cut, gateway('studio-4', 'closed'))).toEqual([closed('studio-1 and studio-4')]);
  });

  it('reports a gateway that was already closed when the wait was interrupted', () => {
    expect(linesOf(wait('studio-1', 'interrupted'))).toEqual([closed('studio-1')]);
  });

  it('reports a gateway that may be closed, but not one that it never reached or has reopened', () => {
    const may = `kimi: its gateway on studio-1 may be closed. ${opening}`;
    expect(linesOf(gateway('studio-1', 'closed', 'interrupted'), wait('studio-1', 'skipped', 0))).toEqual([may]);
    expect(linesOf(gateway('studio-1', 'closed', 'interrupted', 0), wait('studio-1', 'skipped', 0))).toEqual([]);
    expect(linesOf(gateway('studio-1', 'closed'), gateway('studio-1', 'open'))).toEqual([]);
  });
});
