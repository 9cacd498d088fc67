import { join, resolve } from 'node:path';
import { needsRdma } from '../../desired/layouts.ts';
import { firmSpace } from '../../diagnostics/cells.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { commandText, proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { EnrollCard, EnrollDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { nodeName } from '../../model/node.ts';
import { aside, type Command, meshwright } from '../../model/text/command.ts';
import { mapProse, type Part, type Prose, prose } from '../../model/text/prose.ts';
import { placeWords } from '../../rack/cabling/receptacle-view.ts';
import { compareVersions, isRdmaInSettings } from '../../rack/macos/reading.ts';
import { recoveryKeys, settingsKeys } from '../../rack/rdma/switch-reading.ts';
import { isHost, isTcpPort, isUser } from '../../remote/remote.ts';
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
import { openTargets } from '../cluster/ssh-targets.ts';
import { namedTargets } from '../cluster/targets.ts';
import { type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { findClusterFile } from '../files/places.ts';
import { diagnosticsJson, type Ended, logFindings, showDiagnostics, showJson } from '../terminal/console.ts';
import { flagOf, type Run, shownWord, usageError, type VerbBody } from '../verb.ts';
import { type Enrolled, type EnrollOne, enrollOne, replaceMac } from './enroll-one.ts';

export const replace: VerbBody = async (run) => {
  const opened = openCluster(run);
  const [word, ...more] = run.words;
  const isNode = opened.fleet.nodes.some(({ name }) => name === word);
  if (word === undefined || more.length > 0 || !isNode) {
    throw usageError(
      'replace needs exactly one node in the file.',
      prose`For example: ${meshwright('replace', 'studio-2')}`,
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

/** `enroll`: sets up SSH access to one Mac after another: host key, SSH key, sudo rule. Saves each pin immediately. */
export const enroll: VerbBody = async (run) => {
  if (run.own['card'] === true) return showCards(run);
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  if (typeof run.own['expect'] === 'string' && subjects.length !== 1) {
    throw usageError('--expect needs exactly one node.', 'Name one node, or leave out --expect.');
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

/** Adds the typed options to hints with `enroll ADDRESS`, which would otherwise use a different account or port. */
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

/** The exit code for several nodes; partial if some were enrolled and others were not. */
export function codeForEnrolled(codes: readonly ExitCode[]): ExitCode {
  const isGood = (code: ExitCode): boolean => code === exitCode.done || code === exitCode.handsNeeded;
  return codes.some(isGood) && !codes.every(isGood) ? exitCode.partial : firstOf(codes);
}

export function codeOfEnrolled(result: Enrolled): ExitCode {
  if (result.pin === 'declined' || result.pin === 'refused')
    return isLeftThere(result) ? exitCode.failed : exitCode.nothingChanged;
  if (result.pin === 'unseen' || result.login === 'unknown') {
    const isLocked = result.diagnostics.some((one) => hasTrait(one, 'locked'));
    return isLocked ? exitCode.handsNeeded : exitCode.failed;
  }
  return result.login === 'accepted' && result.sudo === 'allowed' && result.mac !== 'wrong'
    ? exitCode.done
    : exitCode.handsNeeded;
}

/** True if something was installed on a Mac that was then not accepted as the node. */
const isLeftThere = ({ pin, installed }: Enrolled): boolean =>
  (pin === 'declined' || pin === 'refused') && (installed?.key === 'added' || installed?.rule === 'added');

const pinText: Readonly<Record<Enrolled['pin'], string>> = {
  kept: 'already pinned',
  added: 'pinned now',
  replaced: 'pinned now, replacing the old key',
  declined: 'not pinned: you answered no',
  refused: 'this key is not pinned',
  unseen: 'not read',
};

function showEnrolled(run: Run, result: Enrolled, keeper: LockKeeper): void {
  const { out, isSimulated } = run.console;
  out(`${result.label}   ${result.address}${isSimulated ? '   simulated' : ''}\n`);
  const key = result.fingerprint === undefined ? '' : `${result.type} ${result.fingerprint}\n             `;
  const where =
    result.pin === 'kept' || result.pin === 'added' || result.pin === 'replaced' ? ` in ${keeper.shown}` : '';
  out(`  host key   ${key}${pinText[result.pin]}${where}\n`);
  for (const line of installedLines(result)) out(line);
  if (isLeftThere(result)) out('             This stays on that Mac. Remove it there, or run the command again.\n');
  if (result.login !== undefined) out(`  login      ${result.login} for ${result.user}\n`);
  if (result.sudo !== undefined) out(`  sudo       ${result.sudo}\n`);
  if (result.mac !== undefined) out(`  mac        ${macText[result.mac]}\n`);
  if (isAsBefore(result)) out('  already enrolled: nothing changed\n');
  showDiagnostics(run.console, result.diagnostics);
}

const macText: Readonly<Record<NonNullable<Enrolled['mac']>, string>> = {
  added: 'recorded now',
  kept: 'the recorded Mac',
  replaced: 'recorded now, replacing the old Mac',
  wrong: 'the wrong Mac',
  unseen: 'could not be identified',
};

const isAsBefore = ({ pin, login, sudo, installed, mac }: Enrolled): boolean =>
  pin === 'kept' && login === 'accepted' && sudo === 'allowed' && installed === undefined && (mac ?? 'kept') === 'kept';

function installedLines({ installed, user }: Enrolled): readonly string[] {
  const { key, rule } = installed ?? {};
  const words = { added: 'installed', kept: 'already installed' } as const;
  return [
    ...(key === undefined ? [] : [`  key        ${words[key]}: ~/.ssh/authorized_keys of ${user}\n`]),
    ...(rule === undefined ? [] : [`  sudo rule  ${words[rule]}: /etc/sudoers.d/meshwright\n`]),
  ];
}

function enrolledJson(reader: Reader, results: readonly Enrolled[], keeper: LockKeeper): EnrollDocument {
  const one = ({ label: _label, diagnostics, ...fields }: Enrolled) => ({
    ...fields,
    diagnostics: diagnosticsJson(reader, diagnostics),
  });
  return {
    ...documentHead(reader),
    lock: keeper.path,
    nodes: Object.fromEntries(results.map((result) => [result.label, one(result)])),
  };
}

/** The nodes to enroll, their SSH targets, and the lock for their pins. */
interface EnrollSubjects extends Omit<EnrollOne, 'subject'> {
  readonly subjects: readonly DesiredNode[];
}

/**
 * The nodes to enroll: nodes in the file by name, or addresses if there is no file or the Mac is not in it yet.
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
    ways: openTargets(run, cluster),
    keeper: openKeeper(run, cluster),
  };
}

/** These options must not silently override the file. */
function refuseAddressOptions(run: Run): void {
  const typed = ['user', 'port', 'identity'].find((name) => run.own[name] !== undefined);
  if (typed === undefined) return;
  throw usageError(
    `--${typed} is only for addresses that are not in the file.`,
    'Correct the cluster file, or enter an address instead of a node.',
  );
}

function fromAddresses(run: Run): EnrollSubjects {
  if (run.options.sim || run.own['all'] === true || run.options.nodes || run.options.label) {
    throw failure('cli/no-cluster-file', { detail: 'This needs a cluster file, but none was found.' });
  }
  if (run.words.length === 0)
    throw usageError('No node was specified.', prose`Name an address: ${meshwright('enroll', 'studio-1.lan')}`);
  const place = { path: join(run.folder, 'cluster.lock'), shown: 'cluster.lock' };
  const lock = openLock(run, place);
  return {
    subjects: run.words.map((word) => addressSubject(run, word)),
    nodes: [],
    ways: openTargets(run, { path: join(run.folder, 'cluster.yaml'), lock }),
    keeper: createLockKeeper({ ...place, lock }),
  };
}

function addressSubject(run: Run, host: string): DesiredNode {
  if (!isHost(host)) {
    throw failure('enroll/no-such-node', {
      detail: `${JSON.stringify(host)} is neither a node in the file nor an address.`,
    });
  }
  const { user, port, identity } = run.own;
  if (user !== undefined && !(typeof user === 'string' && isUser(user))) {
    throw usageError(
      `${JSON.stringify(user)} is not a valid account name.`,
      'Use letters, digits, dots, hyphens and underscores.',
    );
  }
  if (port !== undefined && !isTcpPort(Number(port))) {
    throw usageError(`${JSON.stringify(port)} is not a valid port.`, 'Enter a whole number from 1 to 65535.');
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

/** Resolves a path on the command line relative to the current folder; `~/` is expanded later. */
const typedPath = (run: Run, path: string): string => (path.startsWith('~/') ? path : resolve(run.folder, path));

/** The manual steps at one Mac before enrollment, derived from the file only. */
interface Card extends Pick<EnrollCard, 'node' | 'host' | 'user'> {
  readonly parts: readonly CardPart[];
  /** The commands to run afterwards on the controller. */
  readonly commands: readonly Command[];
}

interface CardPart {
  readonly title: string;
  readonly steps: readonly Prose[];
}

const fileVaultStep = ({ system }: DesiredFleet, node: string): Prose => {
  switch (system.fileVault) {
    case 'disabled':
      return 'Leave FileVault off (it is disabled in the file).';
    case 'enabled':
      return prose`Turn FileVault on (it is enabled in the file) and keep the recovery key. After every restart, the Mac waits for a password: ${meshwright('unlock', node)}`;
    case 'any':
      return prose`Turn FileVault on or off; the file allows both. Off: the Mac comes back without help after every restart. On: it waits for a password each time (${aside(meshwright('unlock', node))}).`;
  }
};

/** @see Apple, macOS User Guide: automatic login is not available while FileVault is on */
function loginSteps({ system }: DesiredFleet, account: string): readonly string[] {
  if (system.automaticLogin === undefined) return [];
  return system.automaticLogin === 'required'
    ? [`System Settings > Users & Groups > Automatically log in as: ${account} (not available while FileVault is on).`]
    : ['System Settings > Users & Groups > Automatically log in as: Off.'];
}

function macosStep({ macos }: DesiredFleet, { hardware }: DesiredNode): string {
  const wanted = macos.version ?? macos.accept;
  const first = macModel(hardware.model ?? '')?.firstMacos;
  if (macos.version !== undefined && first !== undefined && compareVersions(first, macos.version) > 0) {
    return `This Mac came with macOS ${first}, which is newer than macos.version ${macos.version} in the file. Raise macos.version first.`;
  }
  return wanted === undefined
    ? 'Update macOS to the version on the other Macs in the rack.'
    : `Update macOS to ${wanted}${macos.version === undefined ? ' (the range that the file accepts)' : ', not to a newer version'}.`;
}

function energyStep({ power: { sleepMinutes, restartAfterPowerLoss } }: DesiredFleet): string {
  const sleep = sleepMinutes === 0 ? 'turns sleep off' : `makes the Mac sleep after ${sleepMinutes} min`;
  const startup = `turns ${restartAfterPowerLoss ? 'on' : 'off'} automatic startup after a power failure`;
  const wanted = [
    ...(sleepMinutes === undefined ? [] : [sleep]),
    ...(restartAfterPowerLoss === undefined ? [] : [startup]),
  ];
  return wanted.length === 0
    ? 'System Settings > Energy: prevent the Mac from sleeping; the file does not set this.'
    : `There is nothing to set under Energy: apply ${wanted.join(' and ')}.`;
}

function setUpPart(fleet: DesiredFleet, node: DesiredNode): CardPart {
  const account = node.user ?? 'that account';
  const create =
    node.user === undefined
      ? 'Create an administrator account with a password, and enter its name in the file as ssh.user.'
      : `Create the account "${node.user}" as an administrator, with a password.`;
  return {
    title: 'Set up macOS',
    steps: [
      `${create} No Apple Account is needed.`,
      fileVaultStep(fleet, node.name),
      ...loginSteps(fleet, account),
      macosStep(fleet, node),
      'System Settings > General > Sharing > Remote Login: turn it on. Under its (i), turn on "Allow full disk access for remote users" and allow access for administrators.',
      energyStep(fleet),
    ],
  };
}

const networkPart = ({ host }: DesiredNode): CardPart => ({
  title: 'Network',
  steps: [
    'Plug the office cable into the Ethernet port. Do not plug in any Thunderbolt cable yet.',
    `Make sure that the controller reaches the Mac as ${host}, now and after a restart.`,
  ],
});

/** The Mac's planned macOS, at least the version that it came with; undefined if the file does not specify it. */
function macosOfCard({ macos }: DesiredFleet, { hardware }: DesiredNode): string | undefined {
  const first = macModel(hardware.model ?? '')?.firstMacos;
  const known = [macos.version, first]
    .filter((one) => one !== undefined)
    .toSorted(compareVersions)
    .at(-1);
  const isCertain = macos.version !== undefined || known === undefined || isRdmaInSettings(known);
  return isCertain ? known : undefined;
}

function rdmaPart(fleet: DesiredFleet, node: DesiredNode): readonly CardPart[] {
  if (!needsRdma(fleet, node.name) || neverHasRdma(node.hardware.model)) return [];
  const { hold, open, type, leave } = recoveryKeys;
  const title = 'RDMA over Thunderbolt, once';
  const inSettings = [`${settingsKeys.open} ${settingsKeys.turn}`, settingsKeys.leave];
  const inRecovery = [`Shut it down, then ${hold}`, open, type, `${leave}.`];
  const macos = macosOfCard(fleet, node);
  if (macos === undefined) {
    return [
      { title: `${title} (macOS 27 or later), in System Settings`, steps: inSettings },
      { title: `${title} (before macOS 27), in Recovery`, steps: inRecovery },
    ];
  }
  return isRdmaInSettings(macos)
    ? [{ title: `${title}, in System Settings`, steps: inSettings }]
    : [{ title: `${title}, in Recovery`, steps: inRecovery }];
}

function cablePart({ thunderbolt }: DesiredFleet, { name, hardware }: DesiredNode): readonly CardPart[] {
  const cables = thunderbolt.links.flatMap(({ ends }) => {
    const [own, far] = ends[0].node === name ? ends : [ends[1], ends[0]];
    return own.node === name ? [{ own: own.receptacle, far }] : [];
  });
  if (cables.length === 0) return [];
  const lines = cables
    .toSorted((a, b) => a.own - b.own)
    .map(({ own, far }) => {
      const place = placeWords(hardware.model, own);
      return `Receptacle ${own}${place === undefined ? '' : ` (${place})`}: to ${far.node} receptacle ${far.receptacle}`;
    });
  const when = prose`Wait until ${aside(meshwright('doctor'))} reports no more bridges: three bridged Macs in a ring take the office network down. Then ${aside(meshwright('cables', '--watch'))} guides you, cable by cable.`;
  return [{ title: 'Thunderbolt cables, later', steps: [when, ...lines] }];
}

export const enrollCard = (fleet: DesiredFleet, node: DesiredNode): Card => ({
  node: node.name,
  host: node.host,
  ...given({ user: node.user }),
  parts: [setUpPart(fleet, node), networkPart(node), ...rdmaPart(fleet, node), ...cablePart(fleet, node)],
  commands: [meshwright('enroll', node.name), meshwright('doctor', node.name), meshwright('apply', node.name)],
});

/** Connection options. A card needs no connection. */
const connecting = ['expect', 'replace', 'user', 'port', 'identity', 'passwordEnv', 'passwordFile'];

/** The column width of a printed card. */
const pageColumns = 80;

/** `enroll --card`: prints the manual steps at each of these Macs, one page each, derived from the file only. */
export function showCards(run: Run): Ended {
  const typed = connecting.find((name) => run.own[name] !== undefined);
  if (typed !== undefined) {
    throw usageError(
      `${flagOf(typed)} does not apply to --card, which contacts no Mac.`,
      'Leave out one of the two options.',
    );
  }
  const { fleet } = openCluster(run);
  const words = run.own['all'] === true ? namedTargets(run, fleet) : run.words;
  const cards = targetedNodes(run, fleet, words).map((node) => enrollCard(fleet, node));
  const { isSimulated } = run.console;
  const columns = Math.min(pageColumns, run.console.columns);
  // A form feed makes a printer start a new page. A terminal shows a line instead.
  const between = run.console.isOutTty ? `${'-'.repeat(columns)}\n` : '\f';
  return {
    exit: exitCode.done,
    document: { formatVersion: 1, cards: cards.map((card) => enrollCardJson(card, run.console)) },
    text: cards.map((card) => enrollCardText(card, { columns, isSimulated })).join(between),
  };
}

/** The card as a page to print, in ASCII, at most this many columns wide. */
export function enrollCardText(
  { node, host, parts, commands }: Card,
  { columns, ...reader }: Reader & { readonly columns: number },
): string {
  const lines = parts.flatMap(({ title, steps }) => [
    '',
    title,
    ...steps.flatMap((step) => hang('  [ ] ', proseText(step, reader, firmSpace), columns)),
  ]);
  return [
    `${node}   ${host}`,
    ...lines,
    '',
    'Then on the controller',
    ...commands.map((command) => `  ${commandText(command, reader)}`),
    '',
    "enroll shows the Mac's host key. Compare it on the Mac itself:",
    '  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub',
    '',
  ].join('\n');
}

const enrollCardJson = ({ parts, commands, ...card }: Card, reader: Reader) => ({
  ...card,
  parts: parts.map(({ title, steps }) => ({ title, steps: steps.map((step) => proseText(step, reader)) })),
  commands: commands.map((command) => commandText(command, reader)),
});
