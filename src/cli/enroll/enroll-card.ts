import { needsRdma } from '../../desired/layouts.ts';
import { commandText, proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { aside, type Command, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { placeWords } from '../../rack/cabling/receptacle-view.ts';
import { compareVersions, isRdmaInSettings } from '../../rack/macos/macos.ts';
import { recoveryKeys, settingsKeys } from '../../rack/rdma/rdma-switch-steps.ts';
import { hang } from '../../report/page.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { showJson } from '../terminal/console.ts';
import { type Run, usageError } from '../verb.ts';

/** What a person has to do at one Mac before it can be enrolled, all of it from the file. */
interface EnrollCard {
  readonly node: string;
  readonly host: string;
  /** Absent when the file leaves the account to the ssh configuration. */
  readonly user?: string;
  readonly parts: readonly CardPart[];
  /** What is then typed on the controller, line by line. */
  readonly commands: readonly Command[];
}

/** A heading with what is to be done, in this order. */
interface CardPart {
  readonly title: string;
  readonly steps: readonly Prose[];
}

const fileVaultStep = ({ system }: DesiredFleet, node: string): Prose => {
  switch (system.fileVault) {
    case 'disabled':
      return 'Leave FileVault off (the file wants it disabled).';
    case 'enabled':
      return prose`Turn FileVault on (the file wants it enabled) and keep the recovery key. After every restart the Mac waits for a password: ${meshwright('unlock', node)}`;
    case 'any':
      return prose`Decide about FileVault; the file leaves it open. Off: the Mac comes back by itself after every restart. On: it waits for a password each time (${aside(meshwright('unlock', node))}).`;
  }
};

/** @see Apple, macOS User Guide: automatic login is not there while FileVault is on */
function loginSteps({ system }: DesiredFleet, account: string): readonly string[] {
  if (system.automaticLogin === undefined) return [];
  return system.automaticLogin === 'required'
    ? [`System Settings > Users & Groups > Automatically log in as: ${account} (not there while FileVault is on).`]
    : ['System Settings > Users & Groups > Automatically log in as: Off.'];
}

function macosStep({ macos }: DesiredFleet, { hardware }: DesiredNode): string {
  const wanted = macos.version ?? macos.accept;
  const first = macModel(hardware.model ?? '')?.firstMacos;
  if (macos.version !== undefined && first !== undefined && compareVersions(first, macos.version) > 0) {
    return `This Mac came with macOS ${first}, newer than the ${macos.version} of the file. Raise macos.version first.`;
  }
  return wanted === undefined
    ? 'Update macOS to the version that the other Macs of the rack have.'
    : `Update macOS to ${wanted}${macos.version === undefined ? ' (a range that the file accepts)' : ', not to a newer version'}.`;
}

function energyStep({ power: { sleepMinutes, restartAfterPowerLoss } }: DesiredFleet): string {
  const wanted = [
    ...(sleepMinutes === undefined ? [] : [sleepMinutes === 0 ? 'no sleep' : `sleep after ${sleepMinutes} min`]),
    ...(restartAfterPowerLoss === undefined
      ? []
      : [`${restartAfterPowerLoss ? 'a' : 'no'} start by itself after a power failure`]),
  ];
  return wanted.length === 0
    ? 'System Settings > Energy: keep it from sleeping; the file does not do it for you.'
    : `Energy needs nothing: apply sets ${wanted.join(' and ')}.`;
}

function setUpPart(fleet: DesiredFleet, node: DesiredNode): CardPart {
  const account = node.user ?? 'that account';
  const create =
    node.user === undefined
      ? 'Create an administrator account with a password; its name goes into the file as ssh.user.'
      : `Create the account "${node.user}" as an administrator, with a password.`;
  return {
    title: 'Set up macOS',
    steps: [
      `${create} No Apple Account is needed.`,
      fileVaultStep(fleet, node.name),
      ...loginSteps(fleet, account),
      macosStep(fleet, node),
      'System Settings > General > Sharing > Remote Login: on. Behind its (i): "Allow full disk access for remote users" on, and access for administrators.',
      energyStep(fleet),
    ],
  };
}

const networkPart = ({ host }: DesiredNode): CardPart => ({
  title: 'Network',
  steps: [
    'Plug the office cable into the Ethernet socket; no Thunderbolt cable yet.',
    `See that the Mac is reached as ${host} from the controller, now and after a restart.`,
  ],
});

/** The macOS that the Mac will have: at least the one that it came with. Undefined where the file does not say. */
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
  const when = prose`Not before ${aside(meshwright('doctor'))} says that no bridge is left: three bridged Macs in a ring take the office network down. ${aside(meshwright('cables', '--watch'))} then guides, cable by cable.`;
  return [{ title: 'Thunderbolt cables, later', steps: [when, ...lines] }];
}

/** The card of one node. Nothing of it was seen: it is what the file says. */
export const enrollCard = (fleet: DesiredFleet, node: DesiredNode): EnrollCard => ({
  node: node.name,
  host: node.host,
  ...given({ user: node.user }),
  parts: [setUpPart(fleet, node), networkPart(node), ...rdmaPart(fleet, node), ...cablePart(fleet, node)],
  commands: [meshwright('enroll', node.name), meshwright('doctor', node.name), meshwright('apply', node.name)],
});

/** Options that mean something to whoever is connected to; a card connects to nobody. */
const connecting = ['expect', 'replace', 'user', 'port', 'identity', 'passwordEnv', 'passwordFile'];

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A card is for a page of this width. */
const pageColumns = 80;

/** `enroll --card`: what a person has to do at each of these Macs, one page each, from the file alone. */
export function showCards(run: Run): ExitCode {
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
