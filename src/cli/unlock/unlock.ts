import { dirname } from 'node:path';
import { observeFleet } from '../../apply/reach/observe.ts';
import { interruption, type OpenTarget, type SshTarget } from '../../apply/reach/session.ts';
import { keyIfLocked, type ShownKey, trustIn, unlockNode } from '../../apply/unlock-node.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import type { HostKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { UnlockNode } from '../../model/documents.generated.ts';
import { alike } from '../../model/lists.ts';
import type { Secret, SecretSource } from '../../model/secret.ts';
import { nodeSubject, nodesSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import { gatherAlike } from '../../report/findings.ts';
import { type ResolvedSecret, resolveSecret } from '../../secrets/resolve-secret.ts';
import { type LockKeeper, type OpenedCluster, openCluster, openKeeper, readLock } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { keyProblem } from '../enroll/enroll-one.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { observeLimits } from '../look/observe-fleet.ts';
import { allowSecret, secretContext, typedPasswordSource } from '../sources/secrets.ts';
import { askIfPossible } from '../terminal/ask.ts';
import { diagnosticsJson, logFindings, showDiagnostics, showJson, withProgress } from '../terminal/console.ts';
import { timingFor, useLimits } from '../use-limits.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { openUnlockAttempts, type RecordedAttempts, unlessAboutNode } from './unlock-by-itself.ts';

/** Decides whether a Mac with this FileVault key may receive a password. */
type PrebootPin =
  | { readonly kind: 'trusted'; readonly pin: 'kept' | 'added' }
  | { readonly kind: 'no'; readonly pin: 'declined' | 'refused'; readonly diagnostics: readonly Diagnostic[] };

const refused = (problem: Diagnostic): PrebootPin => ({ kind: 'no', pin: 'refused', diagnostics: [problem] });

/** Decides whether a locked Mac may receive a password: by its FileVault pin, sshd's pin, `--expect` or the user. */
export async function settlePrebootKey(
  run: Run,
  { way, shown, keeper }: { readonly way: OpenTarget; readonly shown: ShownKey; readonly keeper: LockKeeper },
): Promise<PrebootPin> {
  const { target } = way;
  const { verdict } = shown;
  const problem = keyProblem(run, { target, shown });
  if (problem !== undefined) return refused(problem);
  if (verdict.kind === 'preboot') return { kind: 'trusted', pin: 'kept' };
  const address = lookupName(target.host, target.port);
  if (verdict.kind === 'accepted') return { kind: 'trusted', pin: await pinNormal(keeper, address, shown.key) };
  const [known] = keeper.prebootPins(address);
  if (known !== undefined && run.own['replace'] !== true) return refused(changed(target, shown, known));
  const isSure = textOption(run, 'expect') !== undefined || (await askIfPossible(run, question(shown, target)));
  if (isSure === undefined) return refused(nobodyThere(shown, target));
  if (!isSure) return { kind: 'no', pin: 'declined', diagnostics: [] };
  await keeper.pinPreboot(address, shown.key, known !== undefined);
  return { kind: 'trusted', pin: 'added' };
}

/** Pins the normal sshd's known key for FileVault without asking, so that `reboot` can unlock the Mac automatically. */
async function pinNormal(keeper: LockKeeper, address: string, key: HostKey): Promise<'kept' | 'added'> {
  if (keeper.prebootPins(address).some(({ base64 }) => base64 === key.base64)) return 'kept';
  await keeper.pinPreboot(address, key, false);
  return 'added';
}

function changed(target: Target, shown: ShownKey, known: HostKey): Diagnostic {
  return diagnose('ssh/host-key-changed', {
    subject: nodeSubject(target.label),
    detail: [
      `The host key that ${target.host} shows while it waits at FileVault is not the pinned one. No password was sent.`,
      `  known  ${fingerprint(known)}`,
      `  seen   ${shown.fingerprint}`,
    ].join('\n'),
    hint: prose`Enter the password at the Mac this time. If you know why the key changed:\n  ${meshwright('unlock', target.label, '--replace')}`,
  });
}

const nobodyThere = (shown: ShownKey, target: Target): Diagnostic =>
  diagnose('cli/needs-yes', {
    subject: nodeSubject(target.label),
    detail: prose`The host key that ${named(target.label)} shows while it waits at FileVault is not pinned, and pinning it needs your confirmation.`,
    hint: prose`If this is the right key:\n  ${meshwright('unlock', target.label, '--expect', shown.fingerprint)}\nOr add --yes to send the password to the Mac that answers now.`,
  });

const question = ({ key, fingerprint: seen }: ShownKey, target: Target): string =>
  [
    `${target.label} at ${lookupName(target.host, target.port)} waits at FileVault and answers with`,
    `  host key   ${key.type} ${seen}`,
    '             This key is not pinned. Before a Mac is unlocked, macOS may',
    '             use a separate host key.',
    'The password will be sent to the Mac with this key. Pin this key?',
  ].join('\n');

/**
 * The password for each of these nodes, or the reason why there is none. Sources are read one after another so that
 * prompts never overlap. Nodes with the same account and source share one prompt.
 */
async function resolvePasswords(
  run: Run,
  clusterFile: string,
  trusted: readonly Trusted[],
): Promise<ReadonlyMap<string, ResolvedSecret>> {
  const typed = typedPasswordSource(run);
  const found = new Map<string, ResolvedSecret>();
  const prompt = run.console.canAsk ? ({ kind: 'prompt' } as const) : undefined;
  const sourceOf = ({ node }: Trusted): SecretSource | undefined => typed ?? node.password ?? prompt;
  for (const [first, same] of alike(trusted, (one) => JSON.stringify([one.way.target.user, sourceOf(one)]))) {
    const source = sourceOf(first);
    const names = same.map(({ node }) => node.name);
    if (source === undefined) {
      for (const name of names) found.set(name, { kind: 'missing', diagnostic: noSource(name) });
      continue;
    }
    const context = secretContext(run, {
      subject: nodesSubject(names),
      folder: dirname(clusterFile),
      question: `Password of ${first.way.target.user} on ${names.join(', ')}`,
    });
    const resolved = await resolveSecret(source, context);
    for (const name of names) found.set(name, resolved);
  }
  return found;
}

const noSource = (name: string): Diagnostic =>
  diagnose('unlock/no-source', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} waits for its account's password, but no source is set and no prompt is possible here.`,
  });

interface Result extends Omit<UnlockNode, 'diagnostics'> {
  readonly name: string;
  readonly diagnostics: readonly Diagnostic[];
}

interface Locked {
  readonly node: DesiredNode;
  readonly way: OpenTarget;
  readonly shown: ShownKey;
}

/** A locked node that may receive a password. */
interface Trusted extends Locked {
  readonly pin: 'kept' | 'added';
}

export const unlock: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = namedNodes(run, cluster.fleet);
  if (typeof run.own['expect'] === 'string' && nodes.length !== 1) {
    throw usageError('--expect needs exactly one node.', 'Name one node, or leave out --expect.');
  }
  // Without leave for a password, no Mac is contacted and no key is pinned.
  for (const { password } of nodes) {
    const source = typedPasswordSource(run) ?? password;
    if (source !== undefined) await allowSecret(run, source, { folder: dirname(cluster.path) });
  }
  const results = new Map<string, Result>();
  const set = (result: Result): void => void results.set(result.name, result);
  const attempts = openUnlockAttempts(run.env, timingFor(run).unlockPauseMs);
  const about = { cluster, attempts, set };
  const locked = await findLocked(run, nodes, about);
  if (locked.length > 0) attempts.open();
  const keeper = openKeeper(run, cluster);
  const trusted = await settleKeys(run, { locked, keeper }, set);
  await givePasswords(run, await knowingPins(run, trusted, cluster, keeper), about);
  const ordered = nodes.flatMap(({ name }) => results.get(name) ?? []);
  show(run, cluster, ordered);
  return firstOfAll(ordered.map(codeOf));
};

interface Unlocking {
  readonly cluster: OpenedCluster;
  readonly attempts: RecordedAttempts;
  /** Stores the result of a node. */
  readonly set: (result: Result) => void;
}

/** Finds the locked nodes. A node that can be observed is not locked, whatever its key; all others are probed. */
async function findLocked(run: Run, nodes: readonly DesiredNode[], about: Unlocking): Promise<readonly Locked[]> {
  const { cluster, attempts, set } = about;
  const locked = new Map<string, Locked>();
  const ways = await openTargets(run, cluster).toAll(nodes);
  const limits = useLimits(run);
  const asked = { ...observeLimits(run), parallel: 1, facts: ['boot-session'] as const };
  const check = async (node: DesiredNode, way: SshTarget): Promise<void> => {
    const base = { name: node.name, lacksSecret: false };
    const { failures } = await observeFleet([{ node: node.name, way }], asked);
    const failed = failures[node.name] ?? [];
    if (failed.length === 0) {
      if (way.kind === 'way') await attempts.seenUp(lookupName(way.target.host, way.target.port));
      return set({ ...base, state: 'not-locked', diagnostics: [] });
    }
    const shown = await keyIfLocked(way, failed, limits);
    if (shown !== undefined && way.kind === 'way') locked.set(node.name, { node, way, shown });
    else set({ ...base, state: 'unknown', diagnostics: failed });
  };
  await withProgress(run.console, ['checking', nodes], (done) =>
    forEachLimited(ways, run.options.parallel, async ({ node: name, way }) => {
      const node = nodes.find((one) => one.name === name);
      if (node !== undefined) await check(node, way);
      done(name);
    }),
  );
  return nodes.flatMap(({ name }) => locked.get(name) ?? []);
}

/** Decides on one key after another, because the user may be asked. After Ctrl-C, no more questions are asked. */
async function settleKeys(
  run: Run,
  { locked, keeper }: { readonly locked: readonly Locked[]; readonly keeper: LockKeeper },
  set: (result: Result) => void,
): Promise<readonly Trusted[]> {
  const trusted: Trusted[] = [];
  for (const one of locked) {
    const { name } = one.node;
    const base = { name, state: 'locked' as const, lacksSecret: false, fingerprint: one.shown.fingerprint };
    if (run.signal.aborted) {
      set({ ...base, diagnostics: [interruption(name)] });
      continue;
    }
    const settled = await settlePrebootKey(run, { way: one.way, shown: one.shown, keeper });
    if (settled.kind === 'trusted') trusted.push({ ...one, pin: settled.pin });
    else set({ ...base, pin: settled.pin, diagnostics: settled.diagnostics });
  }
  return trusted;
}

/** Renews the SSH targets after a key was pinned. A Mac that is still locked is not trusted with the old ones. */
async function knowingPins(
  run: Run,
  trusted: readonly Trusted[],
  { path }: OpenedCluster,
  keeper: LockKeeper,
): Promise<readonly Trusted[]> {
  if (trusted.every(({ pin }) => pin === 'kept')) return trusted;
  const ways = openTargets(run, { path, lock: readLock(keeper) });
  const again = async (one: Trusted): Promise<Trusted> => {
    const settled = await ways.settle(one.node).catch(unlessAboutNode);
    return settled === undefined ? one : { ...one, way: { kind: 'way', ...settled } };
  };
  return Promise.all(trusted.map(again));
}

async function givePasswords(run: Run, trusted: readonly Trusted[], about: Unlocking): Promise<void> {
  const { cluster, attempts, set } = about;
  const secrets = await resolvePasswords(run, cluster.path, trusted);
  const given: (Trusted & { readonly secret: Secret })[] = [];
  for (const one of trusted) {
    const base = { name: one.node.name, pin: one.pin, fingerprint: one.shown.fingerprint };
    const found = secrets.get(one.node.name);
    if (found?.kind === 'resolved') given.push({ ...one, secret: found.secret });
    else if (found) set({ ...base, state: 'locked', lacksSecret: true, diagnostics: [found.diagnostic] });
  }
  const timing = timingFor(run);
  const limits = {
    ...observeLimits(run),
    signal: run.signal,
    attempts,
    timing,
    onProgress: (node: string, text: string) => run.console.err(`${node}: ${text}\n`),
  };
  const nodes = given.map(({ node }) => node);
  await withProgress(run.console, ['unlocking', nodes], (done) =>
    forEachLimited(given, run.options.parallel, async ({ node, way, shown, pin, secret }) => {
      const trust = trustIn(way.target, shown.key);
      const result = await unlockNode({ node: node.name, way, trust, password: secret }, limits);
      const base = { name: node.name, pin, fingerprint: shown.fingerprint, lacksSecret: false };
      if (result.kind === 'failed') set({ ...base, state: 'locked', diagnostics: [result.diagnostic] });
      else set({ ...base, state: result.kind, diagnostics: [] });
      done(node.name);
    }),
  );
}

function codeOf(result: Result): ExitCode {
  if (result.state === 'unlocked' || result.state === 'not-locked') return exitCode.done;
  if (result.pin === 'declined' || result.pin === 'refused') return exitCode.nothingChanged;
  const isForHands = result.diagnostics.some((one) => hasTrait(one, 'not-unlocked'));
  return result.lacksSecret || isForHands ? exitCode.handsNeeded : exitCode.failed;
}

/** The exit code for all nodes; partial if some were unlocked and others failed. */
function firstOfAll(codes: readonly ExitCode[]): ExitCode {
  const bad = codes.filter((code) => code !== exitCode.done);
  const isMixed = bad.length > 0 && bad.length < codes.length;
  return isMixed && bad.some((code) => code !== exitCode.handsNeeded) ? exitCode.partial : firstOf(codes);
}

const stateText: Readonly<Record<Result['state'], string>> = {
  unlocked: 'unlocked and observed',
  'not-locked': 'not locked',
  locked: 'locked at FileVault',
  unknown: 'unknown',
};

function show(run: Run, cluster: OpenedCluster, results: readonly Result[]): void {
  const diagnostics = results.flatMap((result) => result.diagnostics);
  logFindings(run, diagnostics);
  if (run.options.json) {
    const one = ({ name: _name, diagnostics: problems, ...fields }: Result) => ({
      ...fields,
      diagnostics: diagnosticsJson(run.console, problems),
    });
    const mark = run.options.sim ? { simulated: true as const } : {};
    const nodes = Object.fromEntries(results.map((result) => [result.name, one(result)]));
    showJson(run.console, { formatVersion: 1, cluster: cluster.fleet.name, ...mark, nodes });
    return;
  }
  const wide = Math.max(...results.map(({ name }) => name.length));
  for (const { name, state, pin } of results) {
    const note = pin === 'added' ? '   preboot host key pinned now' : '';
    run.console.out(`${name.padEnd(wide)}   ${stateText[state]}${run.options.sim ? '   simulated' : ''}${note}\n`);
  }
  if (diagnostics.length > 0) run.console.err('\n');
  showDiagnostics(run.console, gatherAlike(diagnostics));
}
