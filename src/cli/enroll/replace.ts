import { lookAtHostKey, type ShownKey } from '../../apply/enroll-node.ts';
import { interruption, type LogIn } from '../../apply/reach/with-remote.ts';
import { networkText } from '../../desired/addresses.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { commandText } from '../../diagnostics/prose-text.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import { given } from '../../model/given.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { sudoRule } from '../../node/sudo-answer.ts';
import { fingerprint } from '../../remote/keys/host-key.ts';
import { diagnoseHostKey } from '../../remote/keys/host-key-trust.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { askYes } from '../terminal/ask.ts';
import { logFindings, showJson } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { codeOfEnrolled, enrolledJson, enrollSubjects, showEnrolled } from './enroll.ts';
import { settleAccess, trustedWay } from './enroll-access.ts';
import { compareCommand, type Enrolled, type EnrollOne, lookAtMac, type SeenMac, unseenMac } from './enroll-one.ts';

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
  const { isSimulated } = ways;
  logFindings(run, result.diagnostics);
  if (run.options.json) showJson(run.console, enrolledJson([result], { keeper, isSimulated }));
  else showEnrolled(run, result, { keeper, isSimulated });
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

/** A node that has shown its host key. */
interface Answering {
  readonly target: Target;
  readonly address: string;
  readonly shown: ShownKey;
}

type Base = Pick<Enrolled, 'label' | 'address' | 'user' | 'isLocked' | 'type' | 'fingerprint'>;

/**
 * Takes the Mac that answers for a node in place of the one that was it: with a yes it is asked which
 * Mac it is; only when it can be this node, key and rule of sudo are put on it, and its host key and its identity are
 * written down.
 */
async function replaceMac(run: Run, one: ReplaceOne): Promise<Enrolled> {
  const { subject, ways } = one;
  const base: Base = { label: subject.name, address: subject.host, user: subject.user ?? '', isLocked: false };
  try {
    const settled = await ways.settle(subject);
    const { target } = settled;
    const shown = await lookAtHostKey({ kind: 'way', ...settled }, useLimits(run));
    const address = lookupName(target.host, target.port);
    const seen = { ...base, address, user: target.user, type: shown.key.type, fingerprint: shown.fingerprint };
    const refused = await refusalOf(run, one, { target, address, shown });
    if (refused !== undefined) return { ...seen, ...refused };
    return await takeOver(run, one, { seen, answering: { target, address, shown } });
  } catch (error) {
    if (!(error instanceof FleetError) || !/^(?:ssh|run)\//u.test(error.diagnostics[0].code)) throw error;
    const isLocked = error.diagnostics.some((problem) => problem.code === 'ssh/locked-at-filevault');
    return { ...base, isLocked, pin: 'unseen', diagnostics: error.diagnostics };
  }
}

type Refusal = Pick<Enrolled, 'pin' | 'diagnostics'>;

const refusal = (...diagnostics: readonly Diagnostic[]): Refusal => ({ pin: 'refused', diagnostics });

/** Why nothing is done: the key is not the expected one, cannot be read, or the answer was no. */
async function refusalOf(run: Run, one: ReplaceOne, answering: Answering): Promise<Refusal | undefined> {
  const { target, shown } = answering;
  const subject = nodeSubject(target.label);
  const expected = run.own['expect'];
  if (typeof expected === 'string' && expected !== shown.fingerprint) {
    const detail = prose`${named(target.host)} shows ${shown.fingerprint}, and ${expected} was expected.`;
    return refusal(diagnose('enroll/fingerprint-differs', { detail, subject }));
  }
  const { verdict } = shown;
  if (verdict.kind === 'revoked' || verdict.kind === 'unreadable') {
    return refusal({ ...diagnoseHostKey(target, verdict), subject });
  }
  if (verdict.kind === 'changed' && run.options.yes === true && typeof expected !== 'string') {
    return refusal(needsYes(target, shown));
  }
  try {
    return (await askYes(run, question(one, answering))) ? undefined : { pin: 'declined', diagnostics: [] };
  } catch (error) {
    if (!(error instanceof FleetError) || error.diagnostics[0].code !== 'cli/needs-yes') throw error;
    return refusal(needsYes(target, shown));
  }
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

async function takeOver(
  run: Run,
  one: ReplaceOne,
  { seen, answering }: { readonly seen: Base; readonly answering: Answering },
): Promise<Enrolled> {
  const { subject: node, keeper, nodes } = one;
  const { target, address, shown } = answering;
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
