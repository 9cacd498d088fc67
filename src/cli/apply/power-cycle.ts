import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import { pause, timeFor } from '../../apply/run-timing.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import {
  darkProblem,
  hasBootedSince,
  isSilent,
  type NodeWithOutlet,
  nodesWithOutlet,
} from '../../engine/diagnose/outlet-check.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { runSecretCommand } from '../../secrets/resolve-secret.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { askSimulator, requireRun } from '../cluster/simulator.ts';
import { openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { needTrust, outletRequests } from '../cluster/trust.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { observeNodes, shownOnly } from '../look/observe-fleet.ts';
import { withLine } from '../terminal/console.ts';
import { timingFor } from '../use-limits.ts';
import { type Run, shownWord } from '../verb.ts';

/** How long an outlet stays off. A guess (docs/unverified.md): power supplies keep some charge. */
const offMs = 15_000;

interface PowerCycles {
  readonly desired: DesiredFleet;
  readonly nodes: readonly NodeName[];
  /** Waits until these Macs answer; returns whether they do. */
  readonly awaitReturn: (nodes: readonly NodeName[]) => Promise<boolean>;
}

/**
 * Power-cycles Macs that do not answer, one after another, and waits until each is back. Stops at the first failure,
 * because the file may give the wrong outlets to the others too.
 * @throws FleetError `outlet/…`, `trust/…`, `sim/…`
 */
export async function powerCycle(run: Run, { desired, nodes, awaitReturn }: PowerCycles): Promise<ExitCode> {
  const chosen = nodesWithOutlet(desired).filter(({ name }) => nodes.includes(name));
  const { opened } = settleFromLock(run);
  const place: OutletPlace = { run, folder: dirname(opened.path), desired, ways: openTargets(run, opened) };
  if (run.options.sim !== true) {
    for (const node of chosen) await refuseOwnMac(node);
    await needTrust(run, chosen.flatMap(outletRequests));
  }
  for (const node of chosen) {
    const isCycled = await withLine(
      run.console,
      (seconds) => `power-cycling ${node.name} by outlet ${node.outlet.name}: ${seconds} s`,
      () => cycle(place, node),
    );
    if (run.signal.aborted) return exitCode.failed;
    if (isCycled !== undefined) await proveReturn(place, node, { sinceEpochMs: isCycled, awaitReturn });
  }
  return exitCode.done;
}

/** @throws FleetError `outlet/this-computer`, because nothing could switch the outlet on again */
async function refuseOwnMac({ name, host }: NodeWithOutlet): Promise<void> {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const found = await lookup(host, { all: true }).catch(() => []);
  if (host === hostname() || found.some(({ address }) => own.includes(address)))
    throw failure('outlet/this-computer', { subject: nodeSubject(name), detail: `Its address is ${host}.` });
}

interface OutletPlace {
  readonly run: Run;
  /** The cluster file's folder. */
  readonly folder: string;
  readonly desired: DesiredFleet;
  readonly ways: SshTargets;
}

const observe = ({ run, desired, ways }: OutletPlace): Promise<FleetObservation> =>
  observeNodes(run, desired.nodes, ways, { ...shownOnly(run), facts: ['boot-session', 'clock'] });

/** Turns the Mac off and on. Returns when its outlet was switched off; undefined if the Mac answers again by itself. */
async function cycle(place: OutletPlace, node: NodeWithOutlet): Promise<number | undefined> {
  const { run, desired } = place;
  const before = await observe(place);
  if (run.signal.aborted || !isSilent(before, node.name)) return undefined;
  const names = desired.nodes.map(({ name }) => name);
  const check = async (): Promise<Diagnostic | undefined> =>
    run.signal.aborted ? undefined : darkProblem(node, { before, now: await observe(place) }, names);
  // A single silent observation may be a network problem.
  const checkTwice = async (): Promise<Diagnostic | undefined> => (await check()) && (await check());
  const sinceEpochMs = Date.now();
  let problem: Diagnostic | undefined;
  try {
    await switchOutlet(place, node, 'off');
    problem = await checkTwice();
    if (problem === undefined) {
      await pause(timeFor(offMs, timingFor(run), 500), run.signal);
      problem = await checkTwice();
    }
  } finally {
    // Whatever happened, no Mac stays without power. The second attempt follows an interrupted or failed first one.
    await switchOutlet(place, node, 'on').catch(() => switchOutlet(place, node, 'on'));
  }
  if (problem !== undefined && !run.signal.aborted) throw new FleetError([problem]);
  return sinceEpochMs;
}

/** @throws FleetError `outlet/no-return` unless the Mac answers from a boot session that began after the cut */
async function proveReturn(
  place: OutletPlace,
  { name, outlet }: NodeWithOutlet,
  { sinceEpochMs, awaitReturn }: { readonly sinceEpochMs: number; readonly awaitReturn: PowerCycles['awaitReturn'] },
): Promise<void> {
  const isBack = await awaitReturn([name]);
  if (place.run.signal.aborted) return;
  const hasBooted = isBack ? hasBootedSince(await observe(place), name, sinceEpochMs) : undefined;
  if (hasBooted === true) return;
  const why = !isBack
    ? 'it does not answer'
    : hasBooted === undefined
      ? 'it answers, but the time of its last boot is unknown'
      : 'it answers, but booted before its outlet was switched off';
  const detail = prose`Outlet ${outlet.name} of ${named(name)} is on again: ${why}. No other Mac lost its power.`;
  throw failure('outlet/no-return', { subject: nodeSubject(name), detail });
}

/** Switches an outlet, and asks for its state. @throws FleetError `outlet/command-failed` unless it has this state */
async function switchOutlet(place: OutletPlace, { name, outlet }: NodeWithOutlet, to: 'on' | 'off'): Promise<void> {
  const fail = (act: 'on' | 'off' | 'state', why: string): FleetError => {
    const command = outlet[act].argv.map(shownWord).join(' ');
    const detail = prose`${command}: ${why} So the outlet of ${named(name)} may not be ${to}.`;
    return failure('outlet/command-failed', { subject: nodeSubject(name), detail });
  };
  if (place.run.options.sim === true) {
    // The command in the file would switch a real Mac.
    const request = { ask: 'outlet', words: [to, outlet.name] } as const;
    await askSimulator(await requireRun(place.run), request, switchDeadlineMs);
    return;
  }
  const { env } = place.run;
  for (const act of [to, 'state'] as const) {
    const ran = await runSecretCommand(outlet[act], { env, folder: place.folder, maxBytes: 65_536 });
    if (ran.kind !== 'bytes') throw fail(act, ran.why);
    const isWrong = act === 'state' && new TextDecoder().decode(ran.bytes).trim().toLowerCase() !== to;
    if (isWrong) throw fail(act, `It did not print only \`${to}\`.`);
  }
}

/** A simulated outlet that is switched on answers when its Mac has booted. */
const switchDeadlineMs = 300_000;
