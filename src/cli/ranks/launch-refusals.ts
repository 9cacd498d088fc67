import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { ownAccounts } from '../../model/account.ts';
import type { Facts } from '../../model/facts/observation.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { accountState } from '../../rack/accounts/account-state.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { budgetWords, isSpent, launchBudget } from '../../rack/rdma/launch-budget.ts';

/** Ranks of somebody's own program that are to be started. */
export interface LaunchAsked {
  readonly nodes: readonly NodeName[];
  /** Whether they make a group of JACCL, which takes of the devices as a start of a placement does. */
  readonly isOverRdma: boolean;
  /** The account that runs the ranks; absent is the ssh user. */
  readonly account?: string;
  /** Whether `--allow rdma-start` was typed. */
  readonly mayPassBudget?: boolean;
}

/**
 * Macs that need a restart before a placement starts, or where that is unknown: the ranks of a program of one's own
 * would fail there too. A node that was not reached is not reported here.
 */
export function launchRefusals(
  { nodes, isOverRdma, account, mayPassBudget = false }: LaunchAsked,
  observation: FleetObservation,
): readonly Diagnostic[] {
  return nodes.flatMap((node) => {
    const facts = observation.nodes[node]?.facts;
    if (facts === undefined || facts.hold.kind === 'unknown') return [];
    const refused = account === undefined ? [] : accountProblem(node, account, facts);
    const why = [...markReasons(facts), ...(isOverRdma && !mayPassBudget ? budgetReasons(facts) : [])];
    const others = why.map(({ isSeen, words }) => {
      const about = {
        subject: nodeSubject(node),
        detail: prose`No rank is started, and nothing was stopped: ${named(node)}: ${words}.`,
      };
      if (!isSeen) return diagnose('launch/reboot-unseen', about);
      return diagnose('launch/needs-reboot', {
        ...about,
        hint: prose`Restart it, or leave it out: ${meshwright('reboot', node)}`,
      });
    });
    return [...refused, ...others];
  });
}

/** Why no rank can run as this account there. Rules of sudo are seen by root alone: each start asks for them. */
function accountProblem(node: NodeName, account: string, { accounts, login }: Facts): readonly Diagnostic[] {
  const state = accounts.kind === 'known' ? accountState(account, accounts.value, login) : undefined;
  if (state === 'made' || state === 'login' || state === 'shared-group') return [];
  const isMade = ownAccounts.includes(account) && (state === 'absent' || state === 'begun' || state === 'left');
  const words: Readonly<Record<'absent' | 'begun' | 'left' | 'other' | 'administrator' | 'unseen', string>> = {
    absent: `there is no account ${account}`,
    begun: `the account ${account} is half made`,
    left: `the account ${account} was left by an earlier installation`,
    other: `the account ${account} is not the one that meshwright made`,
    administrator: `${account} is an administrator and can become root`,
    unseen: `the state of the account ${account} is unknown`,
  };
  return [
    diagnose('launch/account', {
      subject: nodeSubject(node),
      detail: prose`No rank is started, and nothing was stopped: ${named(node)}: ${words[state ?? 'unseen']}.`,
      ...(isMade && { hint: prose`Let apply make it: ${meshwright('apply')}` }),
    }),
  ];
}

interface Reason {
  /** Whether it was seen that a restart is needed; otherwise nobody knows, and a restart is not what is to be done. */
  readonly isSeen: boolean;
  readonly words: string;
}

function markReasons({ 'reboot-mark': marks }: Facts): readonly Reason[] {
  if (marks.kind === 'unknown') {
    const words = `nobody could see whether it needs a restart first (${escapeText(marks.detail)})`;
    return [{ isSeen: false, words }];
  }
  return marks.value.map(({ placement }) => ({
    isSeen: true,
    words: `a rank of ${escapeText(placement)} that was stopped there left something that only a restart ends`,
  }));
}

function budgetReasons(facts: Facts): readonly Reason[] {
  const budget = launchBudget(facts);
  if (budget.kind === 'unknown') {
    const words = `nobody knows whether its launch budget has room (${escapeText(budget.detail)})`;
    return [{ isSeen: false, words }];
  }
  if (!isSpent(budget.value)) return [];
  return [{ isSeen: true, words: budgetWords(budget.value) }];
}
