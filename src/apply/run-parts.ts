import { diagnose } from '../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../diagnostics/diagnostic.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, prose } from '../model/text/prose.ts';
import type { JournalEntry } from './journal/journal.ts';
import { claimOf } from './lease/controller.ts';
import { createLeaseKeeper, type LeaseChange, type LeaseKeeper } from './lease/lease-keeper.ts';
import { openSession, type Session } from './reach/session.ts';
import type { Way } from './reach/with-remote.ts';
import type { RunOptions } from './run-options.ts';

/** What the pieces of a run share. */
export interface Parts {
  readonly options: RunOptions;
  readonly ways: ReadonlyMap<NodeName, Way>;
  readonly sessions: Map<NodeName, Session>;
  readonly keeper: LeaseKeeper;
  /** Aborted when the journal cannot be written any more. */
  readonly halted: AbortController;
  /** Problems of the run itself. */
  readonly problems: Diagnostic[];
}

/** The parts of a run that has not asked any node yet. */
export function createParts(options: RunOptions): Parts {
  const { journal, verb, controller, timing, leaseWaitMs, signal, deadlineMs } = options;
  const since = new Date().toISOString();
  const claim = claimOf(controller, { run: journal.runId, verb, phase: 'starting', since });
  const keeper = createLeaseKeeper({
    claim,
    controller,
    timing,
    waitMs: leaseWaitMs,
    askMs: deadlineMs,
    ...given({ signal }),
    session: (node) => sessionOf(parts, node),
    onChange: (change) => tellLease(parts, change),
  });
  const parts: Parts = {
    options,
    ways: new Map(options.ways.map(({ node, way }) => [node, way])),
    sessions: new Map(),
    keeper,
    halted: new AbortController(),
    problems: [],
  };
  return parts;
}

/** The one session of a node, opened when it is first needed. */
export function sessionOf(parts: Parts, node: NodeName): Session {
  const known = parts.sessions.get(node);
  if (known) return known;
  const session = newSession(parts, node);
  parts.sessions.set(node, session);
  return session;
}

/** One that is not kept: over a connection of its own, made when it is first used. */
export function newSession(parts: Parts, node: NodeName): Session {
  const { deadlineMs, onRemote, onEvent, timing } = parts.options;
  const onReconnect = (_node: NodeName, attempt: number): void => onEvent({ kind: 'reconnecting', node, attempt });
  const limits = { deadlineMs, retryMs: timing.retryMs, ...given({ onRemote }), onReconnect };
  return openSession({ node, way: wayOf(parts, node) }, limits);
}

/** @throws Error when the run was given no way to it, which is a bug of the caller */
export function wayOf({ ways }: Parts, node: NodeName): Way {
  const way = ways.get(node);
  if (!way) throw new Error(`the run was given no way to ${node}`);
  return way;
}

/** Whether a signal has asked the run to end. */
export const isInterrupted = ({ options }: Parts): boolean => options.signal?.aborted === true;

/** Whether it is written down. What cannot be written ends the run: nothing more is begun. */
export function record({ options, halted, problems }: Parts, entry: JournalEntry): boolean {
  try {
    options.journal.write(entry);
    return true;
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    if (!halted.signal.aborted) problems.push(...error.diagnostics);
    halted.abort();
    return false;
  }
}

function tellLease(parts: Parts, { node, phase, token, holder }: LeaseChange): void {
  if (phase !== 'waiting' && phase !== 'expired') {
    record(parts, { phase: 'lease', node, state: phase, ...given({ token }) });
  }
  if (phase === 'lost') {
    const detail = prose`${labelled(node)}the lease of run ${parts.options.journal.runId} is not there any more.`;
    parts.problems.push(diagnose('lease/lost', { subject: nodeSubject(node), detail }));
  }
  parts.options.onEvent({ kind: 'lease', node, phase, ...given({ holder }) });
}
