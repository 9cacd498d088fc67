import { dirname } from 'node:path';
import { ownIdentity } from '../../apply/lease/controller.ts';
import type { UpdateOrder } from '../../apply/steps/context.ts';
import { type UpdatePhase, updateWords } from '../../desired/update-command.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { MacosUpdate } from '../../model/facts/mac.ts';
import type { Secret } from '../../model/secret.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { resolveSecret, runSecretCommand } from '../../secrets/resolve-secret.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import { askSimulator, requireRun } from '../cluster/simulator.ts';
import { needTrust, updateRequests } from '../cluster/trust.ts';
import { secretContext } from '../sources/secrets.ts';
import { type Run, usageError } from '../verb.ts';

/** @throws FleetError `cli/usage` if one of the Macs is the computer on which the command runs */
export async function refuseOwnMac(nodes: readonly DesiredNode[]): Promise<void> {
  const own = await ownIdentity();
  const here = nodes.find(({ identity }) => own !== undefined && identity === own);
  if (here === undefined) return;
  throw usageError(`This computer is ${here.name}: the update would end this command.`, 'Run it on another computer.');
}

/**
 * The password of each Mac's SSH user; a prompt is shown once per source.
 * @throws FleetError `upgrade/no-password`, `secret/…`, `trust/…`
 */
export async function readPasswords(
  run: Run,
  nodes: readonly DesiredNode[],
  { opened }: SettledCluster,
): Promise<ReadonlyMap<string, Secret>> {
  const found = new Map<string, Secret>();
  const bySource = new Map<string, Secret>();
  const problems: Diagnostic[] = [];
  for (const { name, password: source } of nodes) {
    const subject = nodeSubject(name);
    if (source === undefined) {
      problems.push(
        diagnose('upgrade/no-password', { subject, detail: `The file has no password source for ${name}.` }),
      );
      continue;
    }
    const key = JSON.stringify(source);
    const known = bySource.get(key);
    const about = { subject, folder: dirname(opened.path), question: `Password of the SSH user on ${name}` };
    const read = known === undefined ? await resolveSecret(source, secretContext(run, about)) : undefined;
    if (read?.kind === 'missing') problems.push(read.diagnostic);
    const secret = read?.kind === 'resolved' ? read.secret : known;
    if (secret === undefined) continue;
    bySource.set(key, secret);
    found.set(name, secret);
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new FleetError([first, ...rest]);
  return found;
}

type UpdateProgram = Extract<DesiredFleet['macos']['updateDriver'], { readonly kind: 'command' }>;

/** A download takes as long as the slowest one of `softwareupdate`; an order is one call to another server. */
const deadlineMs: Readonly<Record<UpdatePhase, number>> = { download: 7_200_000, install: 120_000 };

/** What the program prints is not shown, so only the memory limits it. */
const maxBytes = 16_777_216;

/**
 * The program of `macos.updates.command`, by phase and Mac. In a rehearsal, the simulated Macs do what it orders.
 * @throws FleetError `trust/…`
 */
export async function updateProgram(run: Run, { opened, fleet }: SettledCluster, program: UpdateProgram, to: string) {
  const { sim } = run.options;
  if (sim !== true) await needTrust(run, updateRequests(fleet));
  return async (phase: UpdatePhase, { name: node, host }: DesiredNode, build: string): Promise<UpdateOrder> => {
    if (sim === true) return phase === 'install' ? installSimulated(run, node, to) : { kind: 'ordered' };
    const argv = updateWords(program.argv, { phase, node, host, version: to, build });
    // An order is not stopped with the command, because then it would be unknown whether the update was ordered.
    const signal = phase === 'download' ? { signal: run.signal } : {};
    const place = { env: run.env, folder: dirname(opened.path), deadlineMs: deadlineMs[phase], maxBytes, ...signal };
    const ran = await runSecretCommand({ ...program, argv }, place);
    if (ran.kind === 'bytes') return { kind: 'ordered' };
    const isUnknown = ran.kind === 'refused' && ran.isStopped === true;
    return { kind: isUnknown ? 'unknown' : 'refused', why: ran.why };
  };
}

/** Simulated Macs install whenever a person or a program wants it. */
async function installSimulated(run: Run, node: string, to: string): Promise<UpdateOrder> {
  try {
    const request = { ask: 'act', words: ['update', node, to] } as const;
    await askSimulator(await requireRun(run), request, deadlineMs.install);
    return { kind: 'ordered' };
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return { kind: 'refused', why: plainText(error.diagnostics[0].detail) };
  }
}

export type RunUpdateProgram = Awaited<ReturnType<typeof updateProgram>>;

/** Downloads on these Macs at the same time. Returns a problem for each Mac on which that failed. */
export async function downloadByProgram(
  runProgram: RunUpdateProgram,
  nodes: readonly { readonly node: DesiredNode; readonly update: MacosUpdate }[],
): Promise<readonly Diagnostic[]> {
  const ends = await Promise.all(
    nodes.map(async ({ node, update }) => ({ node, end: await runProgram('download', node, update.build ?? '') })),
  );
  return ends.flatMap(({ node: { name }, end }) => {
    if (end.kind === 'ordered') return [];
    const detail = prose`The download for ${named(name)} failed. ${end.why}`;
    return diagnose('upgrade/command-failed', { subject: nodeSubject(name), detail });
  });
}
