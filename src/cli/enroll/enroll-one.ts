import { randomBytes } from 'node:crypto';
import { observeFleet } from '../../apply/reach/observe.ts';
import { interruption, type LogIn, type OpenTarget } from '../../apply/reach/session.ts';
import { readHostKey, type ShownKey } from '../../apply/unlock-node.ts';
import { networkText } from '../../desired/addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, hasTrait } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { areaOf } from '../../engine/diagnose/rules.ts';
import type { ClusterLock, HostKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import type { EnrollNode } from '../../model/documents.generated.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { readValue } from '../../rack/fact.ts';
import { identityFact } from '../../rack/identity/fact.ts';
import { hardwareDifferences } from '../../rack/identity/reading.ts';
import { sameMac, wrongMac } from '../../rack/identity/rule.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { diagnoseHostKey } from '../../remote/keys/host-key-trust.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import type { LockKeeper } from '../cluster/open-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { askIfPossible } from '../terminal/ask.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, textOption } from '../verb.ts';
import { type Access, settleAccess, trustedTarget } from './enroll-access.ts';

export interface Enrolled extends Omit<EnrollNode, 'diagnostics'> {
  readonly label: string;
  readonly diagnostics: readonly Diagnostic[];
}

export interface EnrollOne {
  readonly subject: DesiredNode;
  readonly ways: SshTargets;
  readonly keeper: LockKeeper;
  /** Every node in the file; empty if there is no file. */
  readonly nodes: readonly DesiredNode[];
}

interface Answering {
  readonly target: Target;
  readonly address: string;
  readonly shown: ShownKey;
  readonly seen: Pick<Enrolled, 'label' | 'address' | 'user' | 'type' | 'fingerprint'>;
}

/** Reads a node's host key and continues with it. A node that is not reached is `unseen`. */
async function withHostKey(
  run: Run,
  { subject, ways }: EnrollOne,
  goOn: (answering: Answering) => Promise<Enrolled>,
): Promise<Enrolled> {
  const base = { label: subject.name, address: subject.host, user: subject.user ?? '' };
  const limits = useLimits(run);
  try {
    const settled = await ways.settle(subject);
    const { target } = settled;
    const address = lookupName(target.host, target.port);
    const shown = await readHostKey({ kind: 'way', ...settled }, limits);
    const seen = { ...base, address, user: target.user, type: shown.key.type, fingerprint: shown.fingerprint };
    return await goOn({ target, address, shown, seen });
  } catch (error) {
    if (!(error instanceof FleetError) || !/^(?:ssh|run)\//u.test(error.diagnostics[0].code)) throw error;
    return { ...base, pin: 'unseen', diagnostics: error.diagnostics };
  }
}

/** The reason to refuse a key without asking the user: the key is not the expected one, or it must not be trusted. */
export function keyProblem(run: Run, { target, shown }: Pick<Answering, 'target' | 'shown'>): Diagnostic | undefined {
  const { verdict } = shown;
  const subject = nodeSubject(target.label);
  const expected = textOption(run, 'expect');
  if (expected !== undefined && expected !== shown.fingerprint) {
    const detail = prose`${named(target.host)} has the host key ${shown.fingerprint}, but ${expected} was expected.`;
    return diagnose('enroll/fingerprint-differs', { detail, subject });
  }
  const isBad = verdict.kind === 'revoked' || verdict.kind === 'unreadable';
  return isBad ? { ...diagnoseHostKey(target, verdict), subject } : undefined;
}

/** Pins one node's host key after a confirmation, and makes sure that the SSH key and sudo work. */
export const enrollOne = (run: Run, one: EnrollOne): Promise<Enrolled> =>
  withHostKey(run, one, async (answering) => {
    const { target, shown, seen } = answering;
    const decision = await decide(run, one, answering);
    if (typeof decision === 'object') return { ...seen, ...decision };
    const tryPin = (): Promise<Diagnostic | undefined> => pin(run, one, { ...answering, decision });
    // A different key can mean a different Mac, so the Mac is identified before its key replaces the pinned one.
    const isReplacing = decision === 'replaced';
    const notPinned = isReplacing ? undefined : await tryPin();
    if (notPinned !== undefined) return { ...seen, ...refusal(notPinned) };
    const way = trustedTarget(target, shown.key, one.keeper.shown);
    const { access, mac } = await settleMac(run, one, way);
    // If a known node's Mac cannot be identified now, it may be a different Mac, so the pinned key is kept.
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

/** The identification of a node's Mac: the verdict, the problems, and the identity to record. */
interface JudgedMac {
  readonly word: NonNullable<Enrolled['mac']>;
  readonly problems: readonly Diagnostic[];
  readonly identity?: Digest;
}

const withMac = (access: Access, mac: JudgedMac | undefined): Pick<Enrolled, 'mac' | 'diagnostics'> => ({
  ...(mac === undefined ? {} : { mac: mac.word }),
  diagnostics: [...new Set([...access.diagnostics, ...(mac?.problems ?? [])])],
});

/** Adds the reason why a key was not pinned, unless the access check has already reported a reason. */
const stillUnseen = ({ subject }: EnrollOne, { login }: Access, mac: JudgedMac): JudgedMac =>
  login === 'accepted' ? { ...mac, problems: [...mac.problems, unseenMac(subject.name)] } : mac;

/**
 * Makes sure that the SSH key and sudo work, and identifies the Mac of a node in the file. Identifies the Mac with the
 * same login before an installation, so that nothing is installed on a Mac other than the one in the file or the lock.
 */
async function settleMac(
  run: Run,
  one: EnrollOne,
  way: OpenTarget,
): Promise<{ readonly access: Access; readonly mac?: JudgedMac }> {
  const { subject: node, keeper, nodes } = one;
  if (!nodes.includes(node)) return { access: await settleAccess(run, { node, way }) };
  const identify = async (logIn: LogIn | undefined): Promise<{ seen: SeenMac; mac: JudgedMac }> => {
    const seen = await identifyMac(run, one, way, logIn);
    return { seen, mac: judgedMac(node.name, keeper.shown, seen) };
  };
  let before: JudgedMac | undefined;
  const judge = async (logIn: LogIn | undefined): Promise<readonly Diagnostic[]> => {
    const { seen, mac } = await identify(logIn);
    before = mac;
    // After a failed password login, its reason is enough, because nothing can be installed either.
    const failures = seen.kind === 'unseen' ? seen.failures.filter((one) => areaOf(one) === 'ssh') : [];
    const isSilent = seen.kind === 'unseen' && failures.length === 0 && Object.hasOwn(keeper.identities(), node.name);
    return isSilent ? [unseenMac(node.name)] : [...failures, ...mac.problems];
  };
  const access = await settleAccess(run, { node, way, judge });
  const isDoubtful = before?.word === 'wrong' || before?.word === 'unseen';
  if (run.signal.aborted || (access.login !== 'accepted' && !isDoubtful)) return { access };
  return { access, mac: before ?? (await identify(undefined)).mac };
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
    detail: prose`The Mac that answers is not the Mac that ${lock} records for ${named(name)}.`,
    hint: withCommands('If you replaced the Mac', [meshwright('replace', name)]),
  });

type Pin = 'kept' | 'added' | 'replaced';

/** Writes the pin if it is missing. If this fails, for example after Ctrl-C, returns the reason. */
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
    if (error instanceof FleetError && hasTrait(error.diagnostics[0], 'pins-changed')) return error.diagnostics[0];
    throw error;
  }
}

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
  if (verdict.kind === 'accepted' && run.console.isSimulated) return 'kept';
  if (isReplacing && run.options.yes === true && !isExpected) return refusal(needsExpect(shown, target));
  const isSure = isExpected || (await askIfPossible(run, pinQuestion(shown, target)));
  if (isSure === undefined) return refusal(nobodyThere(shown, target));
  if (!isSure) return { pin: 'declined', diagnostics: [] };
  return isReplacing ? 'replaced' : 'added';
}

/** Without a prompt, the command must contain the fingerprint, because the Mac with this key gets the password. */
const needsExpect = ({ fingerprint: seen }: ShownKey, { label }: Target): Diagnostic =>
  diagnose('cli/needs-yes', {
    subject: nodeSubject(label),
    detail: prose`The host key of ${named(label)} changed. To trust the new key without a prompt, enter its fingerprint.`,
    hint: withCommands('Compare the fingerprint on the Mac itself. If it matches', [
      meshwright('enroll', label, '--replace', '--yes', '--expect', seen),
    ]),
  });

/** Without a terminal, the command must contain the right key's fingerprint. */
function nobodyThere({ fingerprint: seen, verdict }: ShownKey, { label }: Target): Diagnostic {
  const replace = verdict.kind === 'changed' ? ['--replace'] : [];
  return diagnose('cli/needs-yes', {
    subject: nodeSubject(label),
    detail: prose`The host key of ${named(label)} is not pinned, and pinning it needs your confirmation.`,
    hint: prose`Compare the fingerprint on the Mac itself. If it matches:\n  ${meshwright('enroll', label, '--expect', seen, ...replace)}${replace.length === 0 ? '\nOr add --yes to trust the Mac that answers now.' : ''}`,
  });
}

/** The command that prints the fingerprint of this key on the Mac itself. */
const compareCommand = ({ type }: HostKey): string =>
  `ssh-keygen -lf /etc/ssh/ssh_host_${/ed25519|ecdsa|rsa/.exec(type)?.[0] ?? '*'}_key.pub`;

function pinQuestion({ key, fingerprint: seen, verdict }: ShownKey, target: Target): string {
  const known = verdict.kind === 'changed' ? [`  known      ${verdict.known.type} ${fingerprint(verdict.known)}`] : [];
  const also = verdict.kind === 'accepted' ? [`             also in ${verdict.known.file}:${verdict.known.line}`] : [];
  return [
    `${target.label} at ${lookupName(target.host, target.port)} answers with`,
    ...known,
    `  host key   ${key.type} ${seen}`,
    ...also,
    `  compare    ${compareCommand(key)} (on the Mac itself)`,
    'Pin this key?',
  ].join('\n');
}

/**
 * The Mac that answers: `new` if the lock has no identity for this node, `same` as in the lock, or a different one
 * (`other`). `impossible`: it contradicts the file or is another node's Mac. `unseen`: it could not be identified.
 */
type SeenMac =
  | { readonly kind: 'new' | 'same' | 'other'; readonly identity: Digest }
  | { readonly kind: 'impossible'; readonly diagnostic: Diagnostic }
  /** The failures, if the Mac was not reached. */
  | { readonly kind: 'unseen'; readonly failures: readonly Diagnostic[] };

/** Identifies a node's Mac and compares it with the file and the lock. Logs in by key unless `logIn` is set. */
async function identifyMac(run: Run, one: EnrollOne, way: OpenTarget, logIn: LogIn | undefined): Promise<SeenMac> {
  const { subject: node, nodes } = one;
  const identities = one.keeper.identities();
  const observation = await observeFleet([{ node: node.name, way }], {
    ...useLimits(run),
    parallel: 1,
    newBoundary: () => randomBytes(16).toString('hex'),
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
    const detail = prose`The wrong Mac answers as ${named(node.name)}: ${differences.join('; ')}.`;
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
    const detail = prose`${named(node.name)} (${named(node.host)}) is the same Mac as ${twin.name} (${twin.host}).`;
    const hint = prose`Correct the addresses of ${named(node.name)} and ${twin.name} in the file.`;
    return { kind: 'impossible', diagnostic: diagnose(sameMac.codes['identity/same-mac'], { subject, detail, hint }) };
  }
  const known = Object.hasOwn(identities, node.name) ? identities[node.name] : undefined;
  return { kind: known === undefined ? 'new' : known === identity ? 'same' : 'other', identity };
}

/** The problem of a Mac that answered but could not be identified. */
const unseenMac = (name: string): Diagnostic =>
  diagnose('enroll/mac-unseen', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} could not be identified by its serial number and hardware UUID, so nothing was recorded.`,
  });

interface ReplaceOne extends EnrollOne {
  readonly links: ClusterLock['links'];
}

/**
 * Records the Mac that answers as a node's new Mac. After a confirmation, it identifies the Mac. If the Mac can be this
 * node, it installs the SSH key and sudo rule, and records the host key and identity.
 */
export const replaceMac = (run: Run, one: ReplaceOne): Promise<Enrolled> =>
  withHostKey(run, one, async (answering) => {
    const refused = await refusalOf(run, one, answering);
    return refused === undefined ? takeOver(run, one, answering) : { ...answering.seen, ...refused };
  });

/** The reason to do nothing: the key is not the expected one or cannot be read, or the user answered no. */
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

/** Without a prompt, the command must contain the fingerprint, because the Mac with this key gets the password. */
function needsYes({ label }: Target, { fingerprint: seen }: ShownKey): Diagnostic {
  const detail = prose`To replace the Mac of ${named(label)} without a prompt, enter the new Mac's fingerprint.`;
  const hint = prose`Compare the fingerprint on the new Mac itself. If it matches:\n  ${meshwright('replace', label, '--yes', '--expect', seen)}`;
  return diagnose('cli/needs-yes', { subject: nodeSubject(label), detail, hint });
}

/** Shows the old Mac, the Mac that answers now, and the steps that follow. */
function replaceQuestion({ subject: node, keeper, links }: ReplaceOne, { target, address, shown }: Answering): string {
  const { verdict } = shown;
  const pinned = verdict.kind === 'changed' ? [verdict.known] : keeper.pins(address);
  const pins = pinned.map((key) => `${key.type} ${fingerprint(key)}`);
  const isKnown = Object.hasOwn(keeper.identities(), node.name);
  const serial = node.hardware.serial === undefined ? '' : ` (serial ${node.hardware.serial} in the file)`;
  const networks = Object.entries(links).flatMap(([link, network]) =>
    link.split(' <-> ').some((end) => end.startsWith(`${node.name}:`)) ? [`${link}   ${networkText(network)}`] : [],
  );
  return [
    `${node.name} (${address}) gets a new Mac:`,
    `  pinned     ${pins.join('\n             ') || `nothing in ${keeper.shown}`}`,
    `  recorded   ${isKnown ? "the old Mac's serial number and hardware UUID" : 'no identity yet'}${serial}`,
    `  answers    ${shown.key.type} ${shown.fingerprint}`,
    `  compare    ${compareCommand(shown.key)} (on the new Mac)`,
    `  links      ${networks.join('\n             ') || 'none yet'}`,
    '             keep their networks',
    'If they are missing, replace installs your SSH key and this sudo rule:',
    `  ${sudoRule(target.user)}`,
    `Then it records the new Mac's host key and identity in ${keeper.shown}.`,
    `The old Mac is not changed. If it answers as ${node.name} again, meshwright`,
    'reports the wrong Mac.',
    'Use this Mac?',
  ].join('\n');
}

async function takeOver(run: Run, one: ReplaceOne, answering: Answering): Promise<Enrolled> {
  const { subject: node, keeper } = one;
  const { target, address, shown, seen } = answering;
  const way = trustedTarget(target, shown.key, keeper.shown);
  let before: SeenMac | undefined;
  const judge = async (logIn: LogIn | undefined): Promise<readonly Diagnostic[]> => {
    before = await identifyMac(run, one, way, logIn);
    return problemsOf(node.name, before);
  };
  const access = await settleAccess(run, { node, way, isAgreed: true, judge });
  const result = { ...seen, ...access };
  // The check before the installation has already reported these problems.
  if (before !== undefined && problemsOf(node.name, before).length > 0) {
    return { ...result, pin: 'refused', ...(before.kind === 'impossible' ? { mac: 'wrong' as const } : {}) };
  }
  if (access.login !== 'accepted') return { ...result, pin: 'refused' };
  const mac = before ?? (await identifyMac(run, one, way, undefined));
  if (mac.kind === 'impossible' || mac.kind === 'unseen' || run.signal.aborted) {
    const why = run.signal.aborted ? [interruption(node.name)] : problemsOf(node.name, mac);
    const word = mac.kind === 'impossible' ? 'wrong' : 'unseen';
    return { ...result, pin: 'refused', mac: word, diagnostics: [...access.diagnostics, ...why] };
  }
  const pin = pinOf(run, one, answering);
  if (pin !== 'kept') await keeper.pin(address, shown.key, true);
  // The old Mac's FileVault key must no longer be trusted to receive a password.
  else if (mac.kind !== 'same') await keeper.forgetPreboot(address);
  if (mac.kind !== 'same') await keeper.recordMac(node.name, mac.identity);
  return { ...result, pin, mac: mac.kind === 'same' ? 'kept' : mac.kind === 'new' ? 'added' : 'replaced' };
}

function pinOf({ console }: Run, { keeper }: ReplaceOne, { address, shown }: Answering): Pin {
  const pins = keeper.pins(address);
  if (pins.length === 1 && pins[0]?.base64 === shown.key.base64) return 'kept';
  if (pins.length > 0 || shown.verdict.kind === 'changed') return 'replaced';
  return shown.verdict.kind === 'accepted' && console.isSimulated ? 'kept' : 'added';
}

function problemsOf(name: string, mac: SeenMac): readonly Diagnostic[] {
  if (mac.kind === 'impossible') return [mac.diagnostic];
  if (mac.kind !== 'unseen') return [];
  // A rejected login has its own reason. In all other cases, the Mac answered but could not be identified.
  const isUnreached = mac.failures.some((one) => areaOf(one) === 'ssh');
  return isUnreached ? mac.failures : [...mac.failures, unseenMac(name)];
}
