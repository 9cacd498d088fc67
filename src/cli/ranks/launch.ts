import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { PlaybookWork } from '../../apply/playbook-report.ts';
import type { Session } from '../../apply/reach/session.ts';
import { freeRankPort } from '../../desired/endpoints.ts';
import { everyNode } from '../../desired/layouts.ts';
import { diagnose, type GeneralCode } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { escapeLines, escapeText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { type LaunchGroup, launchBackend, launchFiles, launchGroup } from '../../drivers/launch-group.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import { ownAccounts } from '../../model/account.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { type Exit, exitText, type NodePath } from '../../model/probe.ts';
import { nodeSubject } from '../../model/subject.ts';
import { blank, meshwright, withTail } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { below, place, renderPath } from '../../node/paths/node-paths.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { loginFact } from '../../rack/access/fact.ts';
import { accountsFact } from '../../rack/accounts/fact.ts';
import { accountState } from '../../rack/accounts/reading.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { holdFact } from '../../rack/hold/hold-fact.ts';
import { holdsAgainst } from '../../rack/hold/reading.ts';
import { launchGidWarnings } from '../../rack/placement/check/gid-index.ts';
import {
  type LaunchAccount,
  launchRankCommand,
  launchRankScript,
} from '../../rack/placement/launched-program-script.ts';
import { rebootMarkFact } from '../../rack/placement/observed/fact.ts';
import { seenNames } from '../../rack/placement/state/seen-names.ts';
import { budgetWords, isSpent, launchBudget } from '../../rack/rdma/launch-budget-reading.ts';
import { onAbort } from '../../remote/on-abort.ts';
import { nodesText } from '../../report/nodes-text.ts';
import { counted } from '../../report/page.ts';
import { actOn, playbookOf } from '../apply/act-on.ts';
import { checkGoal } from '../apply/final-check.ts';
import { refuseAny } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { closeAll, openSessions, openTargets, type SshTargets } from '../cluster/ssh-targets.ts';
import { amongApplied, type NamedIn, placementsNamed } from '../cluster/targets.ts';
import { exitCode } from '../exit-codes.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { type Console, showDiagnostics } from '../terminal/console.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';

const answerMs = 60_000;

/** `launch PLACEMENT -- CMD…`: stops placements, runs the user's program on the Macs, and starts placements again. */
export const launch: VerbBody = async (run) => {
  const words = wantedWords(run);
  const cluster = settleFromLock(run);
  const account = wantedAccount(run, cluster.fleet);
  const nodes = wantedNodes(run, await amongApplied(run, cluster));
  const ways = openTargets(run, cluster.opened);
  await refuseUnfit(run, { nodes, ways, cluster, account });
  const started: { end?: RanksEnd } = {};
  // Ctrl-C stops the ranks, but the stopped placements are started again.
  const engine = new AbortController();
  const ranks = { isRunning: false };
  const pass = (): void => {
    if (!ranks.isRunning) engine.abort(run.signal.reason);
  };
  run.signal.addEventListener('abort', pass, { once: true });
  const scope = { desired: cluster.fleet, targets: nodes.map(({ name }) => name) };
  const ended = await actOn(
    { ...run, signal: engine.signal },
    {
      verb: 'launch',
      playbook: launchPlaybook,
      scope,
      consent: createConsent(run, { named: ['interrupt'], allowable: ['rdma-start'] }),
      check: checkGoal({ kind: 'start', placements: servedOn(cluster.fleet, nodes), near: scope.targets }, scope),
      texts: { task: leasedText },
      hooks: {
        afterTask: async (work, lost) => {
          const isReady = work.task.kind === 'run' && work.failed.length === 0 && work.refusals.length === 0;
          if (!isReady || work.nodes.length < nodes.length || run.signal.aborted) return;
          ranks.isRunning = true;
          started.end = await endOfRanks(run.console, lost, (ending) =>
            runRanks(
              { ...run, signal: AbortSignal.any([run.signal, ending]) },
              { cluster, nodes, ways, words, account },
            ),
          ).finally(() => {
            ranks.isRunning = false;
          });
        },
      },
    },
    cluster,
    ways,
  );
  run.signal.removeEventListener('abort', pass);
  // A failed program determines the exit code, regardless of the placements.
  const { end } = started;
  if (end?.kind === 'bug') throw end.error;
  // If no rank was started, the launch failed.
  const status = end?.status ?? exitCode.failed;
  const isOfProgram = end === undefined ? ended.exit === exitCode.done : status !== 0;
  return isOfProgram ? { ...ended, exit: status } : ended;
};

/** Stops placements, checks that every Mac answers while leased, and starts those declared as serving. */
export const launchPlaybook: Playbook = playbookOf(
  'launch',
  { kind: 'stop' },
  { kind: 'run', command: ['sw_vers', '-productVersion'], effect: 'none', deadlineMs: answerMs },
  { kind: 'start' },
);

/** The text for the task with a command that only checks leases and answers, because the user did not enter it. */
function leasedText({ task, nodes, failed }: PlaybookWork): string | undefined {
  if (task.kind !== 'run') return undefined;
  return failed.length === 0
    ? `${nodesText(nodes)}: leased for the ranks`
    : `${nodesText(failed)}: no answer after the lease was taken, so no rank is started`;
}

function wantedWords({ tail, words, options }: Run): readonly string[] {
  if (tail !== undefined && tail.length > 0) return tail;
  const target = words[0] ?? `--nodes ${options.nodes?.join(',') ?? 'studio-1,studio-2'}`;
  throw usageError(
    'The command is missing.',
    prose`Enter it after two hyphens:\n  ${withTail(meshwright('launch', target), blank('COMMAND'))}`,
  );
}

/** The nodes in rank order, which is the placement's order or the order on the command line. */
function wantedNodes(run: Run, among: NamedIn): readonly DesiredNode[] {
  const { fleet } = among;
  const [word, ...others] = run.words;
  const typed = run.options.nodes;
  if (run.options.label !== undefined) {
    throw usageError('Labels do not define the rank order.', 'Name nodes in rank order: --nodes a,b');
  }
  if (others.length > 0 || (word === undefined) === (typed === undefined)) {
    const names = fleet.placements.map(({ name }) => name).join(', ');
    throw usageError('Name one placement, or nodes.', `Placements: ${names || 'none'}. Nodes: --nodes a,b`);
  }
  const names =
    word === undefined ? [...new Set(typed ?? [])] : placementsNamed(among, word).flatMap(({ nodes }) => nodes);
  return names.map((name) => {
    const found = fleet.nodes.find((node) => node.name === name);
    if (found === undefined) throw usageError(`There is no node \`${name}\`.`, prose`See: ${meshwright('status')}`);
    return found;
  });
}

/** The same format as in the file, because sudo reads a name in capitals as a list of accounts. */
const accountForm = /^(?:_meshrank|(?![A-Z][A-Z0-9_]*$)[A-Za-z][A-Za-z0-9_.-]{0,30})$/;

/** The account that runs the ranks; undefined for the SSH user, who can become root. */
function wantedAccount(run: Run, { system }: DesiredFleet): LaunchAccount | undefined {
  const ranks = system.accounts.ranks;
  const name = textOption(run, 'as') ?? ranks;
  if (name === undefined || name === 'login') return undefined;
  if (accountForm.test(name)) return { name, isOfRanks: name === ranks };
  throw usageError(
    `${JSON.stringify(name)} is not a valid account name.`,
    'Name an account that exists on every Mac, or `login`: --as NAME',
  );
}

const servedOn = (fleet: DesiredFleet, nodes: readonly DesiredNode[]): readonly string[] =>
  fleet.placements
    .filter((one) => one.state === 'serving' && everyNode(one).some((name) => nodes.some((node) => node.name === name)))
    .map(({ name }) => name);

/**
 * @throws FleetError `launch/held` for a node on hold, `launch/hold-unseen` if this is unknown, `launch/reboot-first`
 * if no rank can start before a restart, `launch/reboot-unseen` if this is unknown, `launch/account` if the account
 * cannot be used
 */
async function refuseUnfit(run: Run, { nodes, ways, cluster, account }: Omit<Launch, 'words'>): Promise<void> {
  const observation = await observeNodes(run, nodes, ways);
  const { thunderbolt, mayPassBudget = false } = cluster.fleet;
  const names = nodes.map(({ name }) => name);
  const isOverRdma = launchBackend({ thunderbolt, nodes: names }) === 'jaccl';
  const held = holdsAgainst(nodes, observation).flatMap((one) => [
    one.kind === 'held'
      ? refused('launch/held', one.node, one.why, one.hint)
      : refused('launch/hold-unseen', one.node, one.why),
    ...(observation.failures[one.node] ?? []),
  ]);
  const asked = { nodes: names, isOverRdma, mayPassBudget, ...(account && { account: account.name }) };
  refuseAny([...held, ...launchRefusals(asked, observation)]);
  if (isOverRdma)
    showDiagnostics(run.console, launchGidWarnings(names, cluster.fleet, Object.values(observation.nodes)));
}

interface Launch {
  readonly cluster: SettledCluster;
  readonly nodes: readonly DesiredNode[];
  readonly ways: SshTargets;
  readonly words: readonly string[];
  readonly account: LaunchAccount | undefined;
}

async function runRanks(run: Run, { cluster, nodes, ways, words, account }: Launch): Promise<number> {
  const { fleet } = cluster;
  const observation = await observeNodes(run, nodes, ways);
  const id = randomBytes(6).toString('hex');
  const names: readonly NodeName[] = nodes.map(({ name }) => name);
  const settings = {
    thunderbolt: fleet.thunderbolt,
    nodes: names,
    hosts: nodes.map(({ host }) => host),
    port: freeRankPort(
      () => `launch-${randomBytes(6).toString('hex')}`,
      fleet.placements.map(({ endpointPort }) => endpointPort),
    ),
  };
  const group = launchGroup(settings, seenNames({ observation }));
  if (group.kind === 'unseen') {
    showDiagnostics(run.console, [group.diagnostic]);
    return exitCode.failed;
  }
  const sessions = await openSessions(run, ways, nodes);
  const isLogin = account === undefined || sessions.some(({ user }) => user === account.name);
  const runner = isLogin ? 'the ssh user, who can become root' : account.name;
  run.console.err(`launch: ${counted(nodes.length, 'rank')}, ${group.backend}, as ${runner}\n`);
  try {
    const folder = below(place.temporary, `meshwright-launch-${id}`);
    const status = await launchRanks(run, { sessions, group, account, folder, words });
    const whose = run.words[0] ?? nodesText(names);
    run.console.err(`launch: ranks of ${whose} ended${status === 0 ? '' : `; worst exit code ${status}`}\n`);
    return status;
  } finally {
    closeAll(sessions);
  }
}

/** Replaces each field once; braces inside a value are unchanged. */
const filled = (word: string, values: ReadonlyMap<string, string>): string =>
  word.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => values.get(name) ?? whole);

interface LaunchAsked {
  readonly nodes: readonly NodeName[];
  /** True if the ranks form a JACCL group, which uses the launch budget like the start of a placement. */
  readonly isOverRdma: boolean;
  /** The account that runs the ranks; absent for the SSH user. */
  readonly account?: string;
  /** True if `--allow rdma-start` was given. */
  readonly mayPassBudget?: boolean;
}

/** Why a program must not run on a node now. */
export interface UnfitReason {
  readonly kind: 'account' | 'reboot-first' | 'reboot-unseen';
  readonly node: NodeName;
  /** A clause after the node's name. */
  readonly why: Prose;
  readonly hint?: Prose;
}

/**
 * Problems of Macs that need, or may need, a restart before a placement can start, and of the account that is to run the
 * program. The ranks of a user's program would also fail there. Nodes that were not reached are not reported here.
 */
export function unfitReasons(
  { nodes, isOverRdma, account, mayPassBudget = false }: LaunchAsked,
  observation: FleetObservation,
): readonly UnfitReason[] {
  return nodes.flatMap((node) => {
    const facts = observation.nodes[node]?.facts;
    if (facts === undefined || read(facts, holdFact).kind === 'unknown') return [];
    const problems = account === undefined ? [] : accountProblem(node, account, facts);
    const why = [...markReasons(facts), ...(isOverRdma && !mayPassBudget ? budgetReasons(facts) : [])];
    const others = why.map(
      ({ isSeen, words }): UnfitReason => ({ kind: isSeen ? 'reboot-first' : 'reboot-unseen', node, why: words }),
    );
    return [...problems, ...others];
  });
}

export const launchRefusals = (asked: LaunchAsked, observation: FleetObservation): readonly Diagnostic[] =>
  unfitReasons(asked, observation).map(({ kind, node, why, hint }) => {
    if (kind === 'account') return refused('launch/account', node, why, hint);
    const leaveOut = prose`Leave out this node, or restart it: ${meshwright('reboot', node)}`;
    return kind === 'reboot-first'
      ? refused('launch/reboot-first', node, why, leaveOut)
      : refused('launch/reboot-unseen', node, why);
  });

const refused = (code: GeneralCode, node: NodeName, why: Prose, hint?: Prose): Diagnostic =>
  diagnose(code, {
    subject: nodeSubject(node),
    detail: prose`${named(node)}: ${why}. Nothing was started or stopped.`,
    ...given({ hint }),
  });

/** Why no rank can run as this account. Each start checks the sudo rules itself, because only root can read them. */
function accountProblem(node: NodeName, account: string, facts: Facts): readonly UnfitReason[] {
  const accounts = read(facts, accountsFact);
  const login = read(facts, loginFact);
  const state = accounts.kind === 'known' ? accountState(account, accounts.value, login) : undefined;
  if (state === 'made' || state === 'login' || state === 'shared-group') return [];
  const isMade = ownAccounts.includes(account) && (state === 'absent' || state === 'begun' || state === 'left');
  const words = {
    absent: `there is no account ${account}`,
    begun: `the account ${account} is only partly created`,
    left: `the account ${account} was left by an earlier installation`,
    other: `the account ${account} was not created by meshwright`,
    administrator: `${account} is an administrator and can become root`,
    unseen: `the state of the account ${account} is unknown`,
  };
  const hint = isMade ? prose`To create the account: ${meshwright('apply')}` : undefined;
  return [{ kind: 'account', node, why: words[state ?? 'unseen'], ...given({ hint }) }];
}

interface Reason {
  /** True if a restart is known to be necessary. Otherwise this is unknown, and no restart is suggested. */
  readonly isSeen: boolean;
  readonly words: string;
}

const unsure = (what: string, why: string): Reason => ({
  isSeen: false,
  words: `unknown whether ${what} (${escapeText(why)})`,
});

function markReasons(facts: Facts): readonly Reason[] {
  const marks = read(facts, rebootMarkFact);
  if (marks.kind === 'unknown') return [unsure('a restart is needed first', marks.detail)];
  return marks.value.map(({ placement }) => ({
    isSeen: true,
    words: `a stopped rank of ${escapeText(placement)} left something behind that only a restart of the Mac clears`,
  }));
}

function budgetReasons(facts: Facts): readonly Reason[] {
  const budget = launchBudget(facts);
  if (budget.kind === 'unknown') return [unsure('its launch budget is spent', budget.detail)];
  return isSpent(budget.value) ? [{ isSeen: true, words: budgetWords(budget.value) }] : [];
}

/** The result of the user's ranks. A bug is thrown only after the stopped placements are running again. */
type RanksEnd = { readonly kind: 'ended'; readonly status: number } | { readonly kind: 'bug'; readonly error: unknown };

/** The exit code for an unknown status, as in ssh. */
const unknownStatus = 255;

/** Runs ranks and never rejects. A problem is shown; its status is 255, as for a lost lease. */
export async function endOfRanks(
  console: Console,
  lost: AbortSignal,
  ranks: (ending: AbortSignal) => Promise<number>,
): Promise<RanksEnd> {
  try {
    const status = await ranks(lost);
    if (!lost.aborted) return { kind: 'ended', status };
    console.err('launch: another run took over the lease of a Mac; stopping the ranks\n');
    return { kind: 'ended', status: unknownStatus };
  } catch (error) {
    if (!(error instanceof FleetError)) return { kind: 'bug', error };
    showDiagnostics(console, error.diagnostics);
    return { kind: 'ended', status: unknownStatus };
  }
}

interface Ranks {
  /** In rank order. */
  readonly sessions: readonly Session[];
  readonly group: LaunchGroup;
  /** The account that runs the ranks; undefined for the SSH user. */
  readonly account: LaunchAccount | undefined;
  readonly folder: NodePath;
  /** The command for every rank, with fields to replace. */
  readonly words: readonly string[];
}

const longestMs = 2 ** 31 - 1;
/** Longer than a rank needs to stop. Its connection is then closed. */
const giveUpMs = 20_000;
/** The output limit of a rank, which is stopped if it prints more. */
const maxBytes = 67_108_864;
/** Longer lines are shown in pieces. */
const longestLine = 16_384;

/**
 * Runs all ranks in parallel and prefixes their output with their numbers. If a rank fails or its connection breaks,
 * all others are stopped.
 * @returns the worst exit status of the ranks that ended unaided: 128 for a signal, 255 if unknown, 0 if all succeeded
 */
async function launchRanks({ console, signal }: Run, ranks: Ranks): Promise<number> {
  const { sessions } = ranks;
  const ending = new AbortController();
  let givingUp: NodeJS.Timeout | undefined;
  const over = once(ending.signal, 'abort').then(() => {
    givingUp = setTimeout(() => closeAll(sessions), giveUpMs);
  });
  const end = (): void => ending.abort();
  const forget = onAbort(signal, end);
  const statuses = await Promise.all(
    sessions.map(async (session, rank) => {
      const prefix = `${console.isSimulated ? 'simulated ' : ''}rank ${rank} ${session.node}`;
      const exit = await runRank({ console, prefix, over }, ranks, session, rank);
      if (ending.signal.aborted) return 0;
      const status = exit.kind === 'exited' ? exit.code : exit.kind === 'signalled' ? 128 : unknownStatus;
      if (status === 0) return 0;
      console.err(`${prefix} ! ${exitText(exit)}${sessions.length > 1 ? '; stopping the others' : ''}\n`);
      end();
      return status;
    }),
  );
  forget();
  clearTimeout(givingUp);
  return Math.max(0, ...statuses);
}

interface RankView {
  readonly console: Console;
  readonly prefix: string;
  readonly over: Promise<void>;
}

async function runRank(
  { console, prefix, over }: RankView,
  { sessions, account, group, folder, words }: Ranks,
  session: Session,
  number: number,
): Promise<Exit> {
  const out = lineWriter(`${prefix} | `, (text) => console.out(text));
  const err = lineWriter(`${prefix} ! `, (text) => console.err(text));
  const asked = await session.ask((rootPrefix) => {
    const file = (name: string): string => `${renderPath(folder, rootPrefix)}/${name}`;
    const values = new Map([
      ['rank', `${number}`],
      ['size', `${sessions.length}`],
      ['hostfile', file(launchFiles.hostfile)],
      ['mpihostfile', file(launchFiles.mpi)],
    ]);
    const environment = group.environment(number, file);
    const { files } = group;
    const rank = { rootPrefix, folder, files, environment, words: words.map((word) => filled(word, values)) };
    const limits = {
      name: 'launch',
      deadlineMs: longestMs,
      maxBytes,
      onOutput: (stream: 'stdout' | 'stderr', piece: Uint8Array) => (stream === 'stdout' ? out : err).take(piece),
    };
    if (account === undefined || account.name === session.user) {
      return { ...limits, command: launchRankCommand(rank), stdin: openUntil(over) };
    }
    const script = launchRankScript(rank, account);
    return { ...limits, command: mutatingCommand(rootPrefix), script, stdin: openUntil(over, script) };
  });
  out.end();
  err.end();
  if (asked.kind === 'ended') return asked.result.exit;
  const reason = plainText(asked.diagnostics[0].detail);
  console.err(`${prefix} ! ${reason}\n`);
  return { kind: 'unknown', why: 'no-channel', reason };
}

/** A rank's standard input. It remains open until the group ends; the rank stops when it closes. */
function openUntil(over: Promise<void>, script = ''): AsyncIterable<Uint8Array> {
  const pieces = script === '' ? [] : [Buffer.from(script)];
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const value = pieces.shift();
    if (value !== undefined) return { done: false, value };
    await over;
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

function lineWriter(prefix: string, write: (text: string) => void) {
  const decoder = new TextDecoder();
  let open = '';
  const show = (lines: readonly string[]): void =>
    write(lines.map((line) => `${prefix}${escapeLines(line)}\n`).join(''));
  return {
    take: (piece: Uint8Array): void => {
      const lines = `${open}${decoder.decode(piece, { stream: true })}`.split('\n');
      open = lines.pop() ?? '';
      if (open.length > longestLine) lines.push(open.slice(0, longestLine));
      open = open.length > longestLine ? open.slice(longestLine) : open;
      if (lines.length > 0) show(lines);
    },
    end: (): void => {
      if (open !== '') show([open]);
      open = '';
    },
  };
}
