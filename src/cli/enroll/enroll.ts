import { join, resolve } from 'node:path';
import type { ShownKey } from '../../apply/enroll-node.ts';
import { interruption, type LogIn } from '../../apply/reach/session.ts';
import { networkText } from '../../desired/addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { commandText, proseText, type Reader } from '../../diagnostics/prose-text.ts';
import { type EnrollCard, enrollCard } from '../../engine/diagnose/enroll-card.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { EnrollDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { nodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { mapProse, named, type Part, prose } from '../../model/text/prose.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { isHost, isTcpPort, isUser, type Target } from '../../remote/remote.ts';
import { hang } from '../../report/page.ts';
import {
  createLockKeeper,
  type LockKeeper,
  type OpenedCluster,
  openCluster,
  openKeeper,
  openLock,
  targetedNodes,
} from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { findClusterFile } from '../files/places.ts';
import { askIfPossible } from '../terminal/ask.ts';
import { diagnosticsJson, logFindings, showDiagnostics, showJson } from '../terminal/console.ts';
import { type Run, shownWord, textOption, usageError, type VerbBody } from '../verb.ts';
import { settleAccess, trustedWay } from './enroll-access.ts';
import {
  type Answering,
  compareCommand,
  type Enrolled,
  type EnrollOne,
  enrollOne,
  keyProblem,
  lookAtMac,
  type Refusal,
  refusal,
  type SeenMac,
  unseenMac,
  withHostKey,
} from './enroll-one.ts';

/** `replace NODE`: the Mac that answers for a node takes the place of the one that was it. */
export const replace: VerbBody = async (run) => {
  const opened = openCluster(run);
  const [word, ...more] = run.words;
  const isNode = opened.fleet.nodes.some(({ name }) => name === word);
  if (word === undefined || more.length > 0 || !isNode) {
    throw usageError(
      'Exactly one node of the file is named here.',
      prose`Say which: ${meshwright('replace', 'studio-2')}`,
    );
  }
  const { links } = settleFromLock(run, opened).lock;
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  const [subject] = subjects;
  if (subject === undefined) throw new Error('a node of the file is a subject');
  const result = await replaceMac(run, { subject, ways, keeper, nodes, links });
  logFindings(run, result.diagnostics);
  if (run.options.json) showJson(run.console, enrolledJson(run.console, [result], keeper));
  else showEnrolled(run, result, keeper);
  const code = codeOfEnrolled(result);
  if (code === 0 && !run.options.json && result.mac !== 'kept') {
    run.console.out(`\nNow: ${commandText(meshwright('apply', result.label), run.console)}\n`);
  }
  return code;
};

/** A node whose Mac is to be another one, and the links of the lock. */
interface ReplaceOne extends EnrollOne {
  readonly links: ClusterLock['links'];
}

/**
 * Takes the Mac that answers for a node in place of the one that was it: with a yes it is asked which
 * Mac it is; only when it can be this node, key and rule of sudo are put on it, and its host key and its identity are
 * written down.
 */
const replaceMac = (run: Run, one: ReplaceOne): Promise<Enrolled> =>
  withHostKey(run, one, async (answering) => {
    const refused = await refusalOf(run, one, answering);
    return refused === undefined ? takeOver(run, one, answering) : { ...answering.seen, ...refused };
  });

/** Why nothing is done: the key is not the expected one, cannot be read, or the answer was no. */
async function refusalOf(run: Run, one: ReplaceOne, answering: Answering): Promise<Refusal | undefined> {
  const { target, shown } = answering;
  const problem = keyProblem(run, answering);
  if (problem !== undefined) return refusal(problem);
  const isUnnamed = shown.verdict.kind === 'changed' && textOption(run, 'expect') === undefined;
  if (isUnnamed && run.options.yes === true) return refusal(needsYes(target, shown));
  const isSure = await askIfPossible(run, question(one, answering));
  if (isSure === undefined) return refusal(needsYes(target, shown));
  return isSure ? undefined : { pin: 'declined', diagnostics: [] };
}

/** A yes that nobody gave at a terminal has to name the key: the password may go to whoever shows it. */
function needsYes({ label }: Target, { fingerprint: seen }: ShownKey): Diagnostic {
  const detail = prose`Taking the Mac that answers for ${named(label)} in place of the one that was it needs a yes, and its fingerprint.`;
  const hint = prose`Compare the fingerprint on the new Mac itself, then say which one is right:\n  ${meshwright('replace', label, '--yes', '--expect', seen)}`;
  return diagnose('cli/needs-yes', { subject: nodeSubject(label), detail, hint });
}

/** What is known of the old Mac, what answers now, and what will happen. */
function question({ subject: node, keeper, links }: ReplaceOne, { target, address, shown }: Answering): string {
  const { verdict } = shown;
  const pinned = verdict.kind === 'changed' ? [verdict.known] : keeper.pins(address);
  const pins = pinned.map((key) => `${key.type} ${fingerprint(key)}`);
  const isKnown = Object.hasOwn(keeper.identities(), node.name);
  const serial = node.hardware.serial === undefined ? '' : `, serial ${node.hardware.serial} in the file`;
  const networks = Object.entries(links).flatMap(([link, network]) =>
    link.split(' <-> ').some((end) => end.startsWith(`${node.name}:`)) ? [`${link}   ${networkText(network)}`] : [],
  );
  return [
    `${node.name} (${address}) is another Mac from now on:`,
    `  pinned     ${pins.join('\n             ') || `nothing in ${keeper.shown}`}`,
    `  known      ${isKnown ? 'one Mac' : 'no Mac yet'} by its serial number and hardware UUID${serial}`,
    `  answers    ${shown.key.type} ${shown.fingerprint}`,
    `  compare    ${compareCommand(shown.key)} (on the new Mac)`,
    `  links      ${networks.join('\n             ') || 'none yet'}`,
    '             keep their networks',
    'Where they are missing, your key and this rule of sudo are put on it:',
    `  ${sudoRule(target.user)}`,
    `Then its host key and which Mac it is go into ${keeper.shown}.`,
    `Nothing of the old Mac is changed; when it answers as ${node.name} again, that`,
    'is told as wrong.',
    'Take this Mac?',
  ].join('\n');
}

async function takeOver(run: Run, one: ReplaceOne, answering: Answering): Promise<Enrolled> {
  const { subject: node, keeper, nodes } = one;
  const { target, address, shown, seen } = answering;
  const way = trustedWay(target, shown.key, keeper.shown);
  const about = { node, way, nodes, identities: keeper.identities() };
  let before: SeenMac | undefined;
  const judge = async (logIn: LogIn | undefined): Promise<readonly Diagnostic[]> => {
    before = await lookAtMac(run, { ...about, ...given({ logIn }) });
    return problemsOf(node.name, before);
  };
  const access = await settleAccess(run, { node, way, isAgreed: true, judge });
  const told = { ...seen, ...access };
  // A Mac that was judged before anything was put on it has said it all.
  if (before !== undefined && problemsOf(node.name, before).length > 0) {
    return { ...told, pin: 'refused', ...(before.kind === 'impossible' ? { mac: 'wrong' as const } : {}) };
  }
  if (access.login !== 'accepted') return { ...told, pin: 'refused' };
  const mac = before ?? (await lookAtMac(run, about));
  if (mac.kind === 'impossible' || mac.kind === 'unseen' || run.signal.aborted) {
    const why = run.signal.aborted ? [interruption(node.name)] : problemsOf(node.name, mac);
    const word = mac.kind === 'impossible' ? 'wrong' : 'unseen';
    return { ...told, pin: 'refused', mac: word, diagnostics: [...access.diagnostics, ...why] };
  }
  const pin = pinOf(one, answering);
  if (pin !== 'kept') await keeper.pin(address, shown.key, true);
  // What the old Mac shows at FileVault must not be given a password any more.
  else if (mac.kind !== 'same') await keeper.forgetPreboot(address);
  if (mac.kind !== 'same') await keeper.recordMac(node.name, mac.identity);
  return { ...told, pin, mac: mac.kind === 'same' ? 'kept' : mac.kind === 'new' ? 'added' : 'replaced' };
}

function pinOf({ keeper, ways }: ReplaceOne, { address, shown }: Answering): 'kept' | 'added' | 'replaced' {
  const pins = keeper.pins(address);
  if (pins.length === 1 && pins[0]?.base64 === shown.key.base64) return 'kept';
  if (pins.length > 0 || shown.verdict.kind === 'changed') return 'replaced';
  return shown.verdict.kind === 'accepted' && ways.isSimulated ? 'kept' : 'added';
}

/** What speaks against taking this Mac as the node. */
function problemsOf(name: string, mac: SeenMac): readonly Diagnostic[] {
  if (mac.kind === 'impossible') return [mac.diagnostic];
  if (mac.kind !== 'unseen') return [];
  // Who was not let in has said why; whoever answered all the same has not said which Mac it is.
  const isUnreached = mac.failures.some(({ code }) => code.startsWith('ssh/'));
  return isUnreached ? mac.failures : [...mac.failures, unseenMac(name)];
}

/**
 * `enroll`: shows and pins host keys one after another, puts key and sudo rule on Macs that lack them, and sees that
 * both work; every pin is kept as it is made.
 */
export const enroll: VerbBody = async (run) => {
  if (run.own['card'] === true) return showCards(run);
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  if (typeof run.own['expect'] === 'string' && subjects.length !== 1) {
    throw usageError('--expect is for exactly one node.', 'Name one node, or leave --expect out.');
  }
  const results: Enrolled[] = [];
  for (const subject of subjects) {
    if (run.signal.aborted) break;
    const found = await enrollOne(run, { subject, ways, keeper, nodes });
    const said = withAddressOptions(run, found);
    logFindings(run, said);
    const result = { ...found, diagnostics: said };
    results.push(result);
    if (!run.options.json) showEnrolled(run, result, keeper);
  }
  if (run.options.json) showJson(run.console, enrolledJson(run.console, results, keeper));
  return codeForEnrolled(results.map(codeOfEnrolled));
};

/** An address is enrolled again with the same options; without them it would be another account or port. */
function withAddressOptions(run: Run, { label, diagnostics }: Enrolled): readonly Diagnostic[] {
  const typed = ['user', 'port', 'identity'].flatMap((name) => {
    const value = run.own[name];
    return typeof value === 'string' ? [`--${name}`, shownWord(value)] : [];
  });
  const withGiven = (part: Part): Part =>
    typeof part === 'object' && part.kind === 'command' && part.verb === 'enroll' && part.words[0] === label
      ? { ...part, words: [label, ...typed, ...part.words.slice(1)] }
      : part;
  return diagnostics.map((one) => ({ ...one, hint: mapProse(one.hint, withGiven) }));
}

/** The code for several nodes: partial as soon as some were enrolled and others could not be. */
export function codeForEnrolled(codes: readonly ExitCode[]): ExitCode {
  const isGood = (code: ExitCode): boolean => code === exitCode.done || code === exitCode.handsNeeded;
  return codes.some(isGood) && !codes.every(isGood) ? exitCode.partial : firstOf(codes);
}

/** Options that mean something to whoever is connected to; a card connects to nobody. */
const connecting = ['expect', 'replace', 'user', 'port', 'identity', 'passwordEnv', 'passwordFile'];

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A card is for a page of this width. */
const pageColumns = 80;

/** `enroll --card`: what a person has to do at each of these Macs, one page each, from the file alone. */
function showCards(run: Run): ExitCode {
  const typed = connecting.find((name) => run.own[name] !== undefined);
  if (typed !== undefined) {
    throw usageError(`${flagOf(typed)} means nothing with --card, which reaches no Mac.`, 'Leave one of the two out.');
  }
  const { fleet } = openCluster(run);
  const words = run.own['all'] === true ? namedTargets(run, fleet) : run.words;
  const cards = targetedNodes(run, fleet, words).map((node) => enrollCard(fleet, node));
  if (run.options.json) {
    showJson(run.console, { formatVersion: 1, cards: cards.map((card) => enrollCardJson(card, run.console)) });
    return exitCode.done;
  }
  const { isSimulated } = run.console;
  const columns = Math.min(pageColumns, run.console.columns);
  // A printer begins a new page at a form feed; a terminal gets a line.
  const between = run.console.isOutTty ? `${'-'.repeat(columns)}\n` : '\f';
  run.console.out(cards.map((card) => enrollCardText(card, { columns, isSimulated })).join(between));
  return exitCode.done;
}

/** How it ended for one node. */
export function codeOfEnrolled(result: Enrolled): ExitCode {
  if (result.pin === 'declined' || result.pin === 'refused')
    return isLeftThere(result) ? exitCode.failed : exitCode.nothingChanged;
  if (result.pin === 'unseen' || result.login === 'unknown') {
    return result.isLocked ? exitCode.handsNeeded : exitCode.failed;
  }
  return result.login === 'accepted' && result.sudo === 'allowed' && result.mac !== 'wrong'
    ? exitCode.done
    : exitCode.handsNeeded;
}

/** Whether something was put on a Mac that did not become the node after all. */
const isLeftThere = ({ pin, installed }: Enrolled): boolean =>
  (pin === 'declined' || pin === 'refused') && (installed?.key === 'added' || installed?.rule === 'added');

const pinText: Readonly<Record<Enrolled['pin'], string>> = {
  kept: 'pinned already',
  added: 'pinned now',
  replaced: 'pinned now, in place of another',
  declined: 'not pinned: the answer was no',
  refused: 'not pinned',
  unseen: 'not seen',
};

/** Shows what became of one node, as text. */
function showEnrolled(run: Run, result: Enrolled, keeper: LockKeeper): void {
  const { out, isSimulated } = run.console;
  out(`${result.label}   ${result.address}${isSimulated ? '   simulated' : ''}\n`);
  const key = result.fingerprint === undefined ? '' : `${result.type} ${result.fingerprint}\n             `;
  const where =
    result.pin === 'kept' || result.pin === 'added' || result.pin === 'replaced' ? ` in ${keeper.shown}` : '';
  out(`  host key   ${key}${pinText[result.pin]}${where}\n`);
  for (const line of installedLines(result)) out(line);
  if (isLeftThere(result))
    out('             which stays on that Mac: take out what was put there, or run this again\n');
  if (result.login !== undefined) out(`  login      ${result.login} for ${result.user}\n`);
  if (result.sudo !== undefined) out(`  sudo       ${result.sudo}\n`);
  if (result.mac !== undefined) out(`  mac        ${macText[result.mac]}\n`);
  if (isAsBefore(result)) out('  enrolled already: nothing was changed\n');
  showDiagnostics(run.console, result.diagnostics);
}

const macText: Readonly<Record<NonNullable<Enrolled['mac']>, string>> = {
  added: 'written down now',
  kept: 'the one that the lock knows',
  replaced: 'written down now, in place of another',
  wrong: 'not the one that it should be',
  unseen: 'nobody could see which one it is',
};

const isAsBefore = ({ pin, login, sudo, installed, mac }: Enrolled): boolean =>
  pin === 'kept' && login === 'accepted' && sudo === 'allowed' && installed === undefined && (mac ?? 'kept') === 'kept';

function installedLines({ installed, user }: Enrolled): readonly string[] {
  const { key, rule } = installed ?? {};
  const words = { added: 'put there', kept: 'there already' } as const;
  return [
    ...(key === undefined ? [] : [`  key        ${words[key]}: ~/.ssh/authorized_keys of ${user}\n`]),
    ...(rule === undefined ? [] : [`  sudo rule  ${words[rule]}: /etc/sudoers.d/meshwright\n`]),
  ];
}

/** The document of `--json`. */
function enrolledJson({ isSimulated }: Reader, results: readonly Enrolled[], keeper: LockKeeper): EnrollDocument {
  const one = ({ label: _label, isLocked: _isLocked, diagnostics, ...fields }: Enrolled) => ({
    ...fields,
    diagnostics: diagnosticsJson({ isSimulated }, diagnostics),
  });
  return {
    formatVersion: 1,
    ...(isSimulated ? { simulated: true } : {}),
    lock: keeper.path,
    nodes: Object.fromEntries(results.map((result) => [result.label, one(result)])),
  };
}

/** Who is to be enrolled, how they are reached, and where their pins go. */
interface EnrollSubjects extends Omit<EnrollOne, 'subject'> {
  readonly subjects: readonly DesiredNode[];
}

/**
 * Nodes of the file by name, and addresses: before there is a file, or of a Mac that is not in it yet.
 * @throws FleetError `enroll/no-such-node` or `cli/usage`
 */
function enrollSubjects(run: Run): EnrollSubjects {
  const hasFile = findClusterFile(run.options.file, run.env, run.folder) !== undefined;
  return hasFile ? fromFile(run, openCluster(run)) : fromAddresses(run);
}

function fromFile(run: Run, cluster: OpenedCluster): EnrollSubjects {
  const words = namedTargets(run, cluster.fleet);
  const isNode = (word: string): boolean => cluster.fleet.nodes.some((node) => node.name === word);
  const addresses = words.filter((word) => !isNode(word) && /[.:]/.test(word));
  const names = words.filter((word) => !addresses.includes(word));
  const nodes = names.length > 0 || addresses.length === 0 ? targetedNodes(run, cluster.fleet, names) : [];
  if (addresses.length === 0) refuseAddressOptions(run);
  return {
    subjects: [...nodes, ...addresses.map((word) => addressSubject(run, word))],
    nodes: cluster.fleet.nodes,
    ways: openWays(run, cluster),
    keeper: openKeeper(run, cluster),
  };
}

/** What the file says of a node is not overruled in silence. */
function refuseAddressOptions(run: Run): void {
  const typed = ['user', 'port', 'identity'].find((name) => run.own[name] !== undefined);
  if (typed === undefined) return;
  throw usageError(
    `--${typed} is for an address that is in no file.`,
    'Correct the cluster file, or name an address instead of a node.',
  );
}

function fromAddresses(run: Run): EnrollSubjects {
  if (run.options.sim || run.own['all'] === true || run.options.nodes || run.options.label) {
    throw new FleetError([
      diagnose('cli/no-cluster-file', { detail: 'This needs a cluster file, and there is none.' }),
    ]);
  }
  if (run.words.length === 0)
    throw usageError('No node is named.', prose`Name an address: ${meshwright('enroll', 'studio-1.lan')}`);
  const place = { path: join(run.folder, 'cluster.lock'), shown: 'cluster.lock' };
  const lock = openLock(run, place);
  return {
    subjects: run.words.map((word) => addressSubject(run, word)),
    nodes: [],
    ways: openWays(run, { path: join(run.folder, 'cluster.yaml'), lock }),
    keeper: createLockKeeper({ ...place, lock }),
  };
}

function addressSubject(run: Run, host: string): DesiredNode {
  if (!isHost(host)) {
    throw new FleetError([
      diagnose('enroll/no-such-node', {
        detail: `${JSON.stringify(host)} is neither a node of the file nor an address.`,
      }),
    ]);
  }
  const { user, port, identity } = run.own;
  if (user !== undefined && !(typeof user === 'string' && isUser(user))) {
    throw usageError(`${JSON.stringify(user)} is no account name.`, 'Letters, digits, dots, dashes and underscores.');
  }
  if (port !== undefined && !isTcpPort(Number(port))) {
    throw usageError(`${JSON.stringify(port)} is no port.`, 'A whole number from 1 to 65535.');
  }
  return {
    name: nodeName(host),
    host,
    hardware: {},
    labels: {},
    ...(typeof user === 'string' ? { user } : {}),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(typeof identity === 'string' ? { identityFile: typedPath(run, identity) } : {}),
  };
}

/** A path of the command line starts in the current folder, not where a file lies; `~/` is expanded once, later. */
const typedPath = (run: Run, path: string): string => (path.startsWith('~/') ? path : resolve(run.folder, path));

/** The card as a page to print: ASCII, of at most this many columns. */
export function enrollCardText(
  { node, host, parts, commands }: EnrollCard,
  { columns, ...reader }: Reader & { readonly columns: number },
): string {
  const lines = parts.flatMap(({ title, steps }) => [
    '',
    title,
    ...steps.flatMap((step) => hang('  [ ] ', proseText(step, reader), columns)),
  ]);
  return [
    `${node}   ${host}`,
    ...lines,
    '',
    'Then on the controller',
    ...commands.map((command) => `  ${commandText(command, reader)}`),
    '',
    'It shows the host key of the Mac; compare it on the Mac itself:',
    '  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
    '',
  ].join('\n');
}

/** The card as programs read it. */
const enrollCardJson = ({ parts, commands, ...card }: EnrollCard, reader: Reader) => ({
  ...card,
  parts: parts.map(({ title, steps }) => ({ title, steps: steps.map((step) => proseText(step, reader)) })),
  commands: commands.map((command) => commandText(command, reader)),
});
