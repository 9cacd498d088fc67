import { randomBytes } from 'node:crypto';
import { observeFleet } from '../../apply/reach/observe.ts';
import { interruption, type LogIn, type OpenWay } from '../../apply/reach/session.ts';
import { lookAtHostKey, type ShownKey } from '../../apply/unlock-node.ts';
import { networkText } from '../../desired/addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { ClusterLock, HostKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { readValue } from '../../rack/fact.ts';
import { identityFact } from '../../rack/identity/fact.ts';
import { hardwareDifferences } from '../../rack/identity/identity.ts';
import { sameMac, wrongMac } from '../../rack/identity/rule.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { diagnoseHostKey } from '../../remote/keys/host-key-trust.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import type { LockKeeper } from '../cluster/open-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { askIfPossible } from '../terminal/ask.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, textOption } from '../verb.ts';
import { type Access, settleAccess, trustedWay } from './enroll-access.ts';

/** How enrolling one node ended. */
export interface Enrolled {
  readonly label: string;
  /** `host`, or `[host]:port`: the name of its pins. */
  readonly address: string;
  readonly user: string;
  readonly type?: string;
  readonly fingerprint?: string;
  readonly pin: 'kept' | 'added' | 'replaced' | 'declined' | 'refused' | 'unseen';
  readonly login?: Access['login'];
  readonly sudo?: Access['sudo'];
  readonly installed?: Access['installed'];
  /** Which Mac it is, for a node of the file that was logged in to. */
  readonly mac?: 'added' | 'kept' | 'replaced' | 'wrong' | 'unseen';
  /** True when the node waits for its FileVault password. */
  readonly isLocked: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** What enrolling one node needs. */
export interface EnrollOne {
  readonly subject: DesiredNode;
  readonly ways: Ways;
  readonly keeper: LockKeeper;
  /** Every node of the file; empty without one. */
  readonly nodes: readonly DesiredNode[];
}

/** A node that has shown its host key, and what follows from the key. */
interface Answering {
  readonly target: Target;
  readonly address: string;
  readonly shown: ShownKey;
  readonly seen: Pick<Enrolled, 'label' | 'address' | 'user' | 'isLocked' | 'type' | 'fingerprint'>;
}

/** Has a node show its host key and goes on with that; who is not reached is unseen. */
async function withHostKey(
  run: Run,
  { subject, ways }: EnrollOne,
  goOn: (answering: Answering) => Promise<Enrolled>,
): Promise<Enrolled> {
  const base = { label: subject.name, address: subject.host, user: subject.user ?? '', isLocked: false };
  const limits = useLimits(run);
  try {
    const settled = await ways.settle(subject);
    const { target } = settled;
    const address = lookupName(target.host, target.port);
    const shown = await lookAtHostKey({ kind: 'way', ...settled }, limits);
    const seen = { ...base, address, user: target.user, type: shown.key.type, fingerprint: shown.fingerprint };
    return await goOn({ target, address, shown, seen });
  } catch (error) {
    if (!(error instanceof FleetError) || !/^(?:ssh|run)\//u.test(error.diagnostics[0].code)) throw error;
    const isLocked = error.diagnostics.some((problem) => problem.code === 'ssh/locked-at-filevault');
    return { ...base, isLocked, pin: 'unseen', diagnostics: error.diagnostics };
  }
}

/** What speaks against a key before the person is asked: it is not the expected one, or must not be trusted. */
export function keyProblem(run: Run, { target, shown }: Pick<Answering, 'target' | 'shown'>): Diagnostic | undefined {
  const { verdict } = shown;
  const subject = nodeSubject(target.label);
  const expected = textOption(run, 'expect');
  if (expected !== undefined && expected !== shown.fingerprint) {
    const detail = prose`${named(target.host)} shows ${shown.fingerprint}, and ${expected} was expected.`;
    return diagnose('enroll/fingerprint-differs', { detail, subject });
  }
  const isBad = verdict.kind === 'revoked' || verdict.kind === 'unreadable';
  return isBad ? { ...diagnoseHostKey(target, verdict), subject } : undefined;
}

/** Shows the host key of one node, pins it if that is wanted, and sees that key and sudo work. */
export const enrollOne = (run: Run, one: EnrollOne): Promise<Enrolled> =>
  withHostKey(run, one, async (answering) => {
    const { target, shown, seen } = answering;
    const decision = await decide(run, one, answering);
    if (typeof decision === 'object') return { ...seen, ...decision };
    const tryPin = (): Promise<Diagnostic | undefined> => pin(run, one, { ...answering, decision });
    // Another key may be that of another Mac, which is judged first; only then does it take the place of the known one.
    const isReplacing = decision === 'replaced';
    const notPinned = isReplacing ? undefined : await tryPin();
    if (notPinned !== undefined) return { ...seen, ...refusal(notPinned) };
    const way = trustedWay(target, shown.key, one.keeper.shown);
    const { access, mac } = await settleMac(run, one, way);
    // A known Mac that now says nothing may be another one: its known key stays.
    const isUnseen = mac?.word === 'unseen' && Object.hasOwn(one.keeper.identities(), one.subject.name);
    if (isReplacing && (mac?.word === 'wrong' || isUnseen || run.signal.aborted)) {
      return { ...seen, pin: 'refused', ...access, ...withMac(access, isUnseen ? stillUnseen(one, access, mac) : mac) };
    }
    const notReplaced = isReplacing ? await tryPin() : undefined;
    if (notReplaced !== undefined) {
      return { ...seen, ...access, ...refusal(...access.diagnostics, notReplaced) };
    }
    if (mac?.identity !== undefined) await one.keeper.recordMac(one.subject.name, mac.identity);
    return { ...seen, pin: decision, ...access, ...withMac(access, mac) };
  });

/** Which Mac a node of the file is: the word for it, what speaks against it, and what is to be written down. */
interface JudgedMac {
  readonly word: NonNullable<Enrolled['mac']>;
  readonly problems: readonly Diagnostic[];
  readonly identity?: Digest;
}

const withMac = (access: Access, mac: JudgedMac | undefined): Pick<Enrolled, 'mac' | 'diagnostics'> => ({
  ...(mac === undefined ? {} : { mac: mac.word }),
  diagnostics: [...new Set([...access.diagnostics, ...(mac?.problems ?? [])])],
});

/** Why a key was not pinned has to be said, unless the look by password has said it or never came about. */
const stillUnseen = ({ subject }: EnrollOne, { login }: Access, mac: JudgedMac): JudgedMac =>
  login === 'accepted' ? { ...mac, problems: [...mac.problems, unseenMac(subject.name)] } : mac;

/**
 * Sees that key and sudo work, and which Mac a node of the file is. What is missing is put on no Mac that is another
 * one than the file or the lock says: it is asked first, with the login that would put it there.
 */
async function settleMac(
  run: Run,
  { subject: node, keeper, nodes }: EnrollOne,
  way: OpenWay,
): Promise<{ readonly access: Access; readonly mac?: JudgedMac }> {
  if (!nodes.includes(node)) return { access: await settleAccess(run, { node, way }) };
  const identities = keeper.identities();
  const look = async (logIn: LogIn | undefined): Promise<{ seen: SeenMac; mac: JudgedMac }> => {
    const seen = await lookAtMac(run, { node, way, nodes, identities, ...given({ logIn }) });
    return { seen, mac: judgedMac(node.name, keeper.shown, seen) };
  };
  let before: JudgedMac | undefined;
  const judge = async (logIn: LogIn | undefined): Promise<readonly Diagnostic[]> => {
    const { seen, mac } = await look(logIn);
    before = mac;
    // Who was not let in by the password has said why; nothing could be put there either.
    const failures = seen.kind === 'unseen' ? seen.failures.filter(({ code }) => code.startsWith('ssh/')) : [];
    const isSilent = seen.kind === 'unseen' && failures.length === 0 && Object.hasOwn(identities, node.name);
    return isSilent ? [unseenMac(node.name)] : [...failures, ...mac.problems];
  };
  const access = await settleAccess(run, { node, way, judge });
  const isDoubtful = before?.word === 'wrong' || before?.word === 'unseen';
  if (run.signal.aborted || (access.login !== 'accepted' && !isDoubtful)) return { access };
  return { access, mac: before ?? (await look(undefined)).mac };
}

function judgedMac(name: string, lock: string, seen: SeenMac): JudgedMac {
  switch (seen.kind) {
    case 'unseen':
      return { word: 'unseen', problems: [] };
    case 'impossible':
      return { word: 'wrong', problems: [seen.diagnostic] };
    case 'other':
      return { word: 'wrong', problems: [otherMac(name, lock)] };
    case 'same':
      return { word: 'kept', problems: [] };
    case 'new':
      return { word: 'added', problems: [], identity: seen.identity };
  }
}

const otherMac = (name: string, lock: string): Diagnostic =>
  diagnose(wrongMac.codes['identity/wrong-mac'], {
    subject: nodeSubject(name),
    detail: prose`${lock} knows another Mac as ${named(name)} than the one that answers.`,
    hint: withCommands('If this Mac takes its place', [meshwright('replace', name)]),
  });

type Pin = 'kept' | 'added' | 'replaced';

/** Writes the pin if one is wanted; says why it was not written. After Ctrl-C nothing is written any more. */
async function pin(
  run: Run,
  one: EnrollOne,
  { address, shown, decision }: Answering & { readonly decision: Pin },
): Promise<Diagnostic | undefined> {
  if (decision === 'kept') return undefined;
  if (run.signal.aborted) return interruption(one.subject.name);
  try {
    await one.keeper.pin(address, shown.key, decision === 'replaced');
    return undefined;
  } catch (error) {
    if (error instanceof FleetError && error.diagnostics[0].code === 'enroll/pins-changed') return error.diagnostics[0];
    throw error;
  }
}

/** Why a key is not trusted. */
type Refusal = Pick<Enrolled, 'pin' | 'diagnostics'>;

const refusal = (...diagnostics: readonly Diagnostic[]): Refusal => ({ pin: 'refused', diagnostics });

async function decide(run: Run, one: EnrollOne, answering: Answering): Promise<Pin | Refusal> {
  const { target, address, shown } = answering;
  const { verdict } = shown;
  const isExpected = textOption(run, 'expect') !== undefined;
  const problem = keyProblem(run, answering);
  if (problem !== undefined) return refusal(problem);
  const isReplacing = verdict.kind === 'changed';
  if (isReplacing && run.own['replace'] !== true) {
    return refusal({ ...diagnoseHostKey(target, verdict), subject: nodeSubject(target.label) });
  }
  if (one.keeper.pins(address).some((pin) => pin.base64 === shown.key.base64)) return 'kept';
  if (verdict.kind === 'accepted' && one.ways.isSimulated) return 'kept';
  if (isReplacing && run.options.yes === true && !isExpected) return refusal(needsExpect(shown, target));
  const isSure = isExpected || (await askIfPossible(run, pinQuestion(shown, target)));
  if (isSure === undefined) return refusal(nobodyThere(shown, target));
  if (!isSure) return { pin: 'declined', diagnostics: [] };
  return isReplacing ? 'replaced' : 'added';
}

/** A yes that was not typed at a terminal has to name the key: the password goes to the Mac that shows it. */
const needsExpect = ({ fingerprint: seen }: ShownKey, { label }: Target): Diagnostic =>
  diagnose('cli/needs-yes', {
    subject: nodeSubject(label),
    detail: prose`The host key of ${named(label)} has changed, and trusting another one needs a yes, and its fingerprint.`,
    hint: withCommands('Compare the fingerprint on the Mac itself, then say which one is right', [
      meshwright('enroll', label, '--replace', '--yes', '--expect', seen),
    ]),
  });

/** Without a terminal nobody says yes; the way out is to say which key is the right one. */
function nobodyThere({ fingerprint: seen, verdict }: ShownKey, { label }: Target): Diagnostic {
  const replace = verdict.kind === 'changed' ? ['--replace'] : [];
  return diagnose('cli/needs-yes', {
    subject: nodeSubject(label),
    detail: prose`The host key of ${named(label)} is not pinned, and pinning it needs a yes.`,
    hint: prose`Compare the fingerprint on the Mac itself, then say which one is right:\n  ${meshwright('enroll', label, '--expect', seen, ...replace)}${replace.length === 0 ? '\nor say --yes to trust what answers now.' : ''}`,
  });
}

/** What a person types on a Mac to see the fingerprint of this key of it. */
const compareCommand = ({ type }: HostKey): string =>
  `ssh-keygen -lf /etc/ssh/ssh_host_${/ed25519|ecdsa|rsa/.exec(type)?.[0] ?? '*'}_key.pub`;

function pinQuestion({ key, fingerprint: seen, verdict }: ShownKey, target: Target): string {
  const known = verdict.kind === 'changed' ? [`  known      ${verdict.known.type} ${fingerprint(verdict.known)}`] : [];
  const also =
    verdict.kind === 'accepted' ? [`             the same as in ${verdict.known.file}:${verdict.known.line}`] : [];
  return [
    `${target.label} at ${lookupName(target.host, target.port)} shows`,
    ...known,
    `  host key   ${key.type} ${seen}`,
    ...also,
    `  compare    ${compareCommand(key)} (on the Mac itself)`,
    'Pin it?',
  ].join('\n');
}

/** A node that may be logged in to, the others of its file, and which Macs the lock knows. */
interface AskedMac {
  readonly node: DesiredNode;
  readonly way: OpenWay;
  readonly nodes: readonly DesiredNode[];
  readonly identities: Readonly<Record<string, Digest>>;
  /** How to log in; by key unless given. */
  readonly logIn?: LogIn;
}

/**
 * Which Mac answers: one that is new under this name, the one that the lock knows, another one than that, or one that
 * cannot be this node, by the file or since it is another node; or it is unknown.
 */
type SeenMac =
  | { readonly kind: 'new' | 'same' | 'other'; readonly identity: Digest }
  | { readonly kind: 'impossible'; readonly diagnostic: Diagnostic }
  /** With why it was not reached, if it was not. */
  | { readonly kind: 'unseen'; readonly failures: readonly Diagnostic[] };

/** Asks a node which Mac it is, and holds that against the file and the lock. */
async function lookAtMac(run: Run, { node, way, nodes, identities, logIn }: AskedMac): Promise<SeenMac> {
  const observation = await observeFleet([{ node: node.name, way }], {
    ...useLimits(run),
    parallel: 1,
    newToken: () => randomBytes(16).toString('hex'),
    facts: ['identity', 'hardware'],
    ...given({ logIn }),
  });
  const facts = observation.nodes[node.name]?.facts;
  const seen = readValue(facts, identityFact);
  if (facts === undefined || seen === undefined)
    return { kind: 'unseen', failures: observation.failures[node.name] ?? [] };
  const { identity: _recorded, ...declared } = node;
  const differences = hardwareDifferences({ desired: declared, facts });
  const subject = nodeSubject(node.name);
  if (differences.length > 0) {
    const detail = prose`Another Mac answers as ${named(node.name)}: ${differences.join('; ')}.`;
    const hint = prose`Correct the address (${named(node.host)}) or the hardware section of ${named(node.name)} in the file.`;
    return {
      kind: 'impossible',
      diagnostic: diagnose(wrongMac.codes['identity/wrong-mac'], { subject, detail, hint }),
    };
  }
  const identity = identityDigest(seen);
  const { serial } = seen;
  const twin = nodes.find(
    ({ name, hardware }) =>
      name !== node.name &&
      (hardware.serial === serial || (Object.hasOwn(identities, name) && identities[name] === identity)),
  );
  if (twin !== undefined) {
    const detail = prose`${named(node.name)} (${named(node.host)}) is the Mac of ${twin.name} (${twin.host}).`;
    const hint = prose`Correct the addresses of ${named(node.name)} and ${twin.name} in the file.`;
    return { kind: 'impossible', diagnostic: diagnose(sameMac.codes['identity/same-mac'], { subject, detail, hint }) };
  }
  const known = Object.hasOwn(identities, node.name) ? identities[node.name] : undefined;
  return { kind: known === undefined ? 'new' : known === identity ? 'same' : 'other', identity };
}

/** A Mac that answered and did not say which one it is. */
const unseenMac = (name: string): Diagnostic =>
  diagnose('enroll/mac-unseen', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} did not say which Mac it is, so nothing was written down.`,
  });

/** A node whose Mac is to be another one, and the links of the lock. */
interface ReplaceOne extends EnrollOne {
  readonly links: ClusterLock['links'];
}

/**
 * Takes the Mac that answers for a node in place of the one that was it: with a yes it is asked which
 * Mac it is; only when it can be this node, key and rule of sudo are put on it, and its host key and its identity are
 * written down.
 */
export const replaceMac = (run: Run, one: ReplaceOne): Promise<Enrolled> =>
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
  const isSure = await askIfPossible(run, replaceQuestion(one, answering));
  if (isSure === undefined) return refusal(needsYes(target, shown));
  return isSure ? undefined : { pin: 'declined', diagnostics: [] };
}

/** A yes that was not typed at a terminal has to name the key: the password goes to the Mac that shows it. */
function needsYes({ label }: Target, { fingerprint: seen }: ShownKey): Diagnostic {
  const detail = prose`Taking the Mac that answers for ${named(label)} in place of the one that was it needs a yes, and its fingerprint.`;
  const hint = prose`Compare the fingerprint on the new Mac itself, then say which one is right:\n  ${meshwright('replace', label, '--yes', '--expect', seen)}`;
  return diagnose('cli/needs-yes', { subject: nodeSubject(label), detail, hint });
}

/** What is known of the old Mac, what answers now, and what will happen. */
function replaceQuestion({ subject: node, keeper, links }: ReplaceOne, { target, address, shown }: Answering): string {
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
  // A refused login has its reason already; a Mac that answered all the same did not say which one it is.
  const isUnreached = mac.failures.some(({ code }) => code.startsWith('ssh/'));
  return isUnreached ? mac.failures : [...mac.failures, unseenMac(name)];
}
