import { reasonWords } from '../../diagnostics/prose-text.ts';
import { type FactName, type FactValues, registry } from '../../engine/observe/facts.ts';
import type { CheckedAccount, MacAccount } from '../../model/account.ts';
import type { LaunchdService } from '../../model/facts/daemons.ts';
import type { Facts, KeptFile } from '../../model/facts/fact-values.ts';
import type { PowerSettings } from '../../model/facts/mac.ts';
import { diskText, durationText, memoryText, utcText } from '../../model/text/units.ts';
import { factNamed } from '../../rack/fact.ts';
import { updateText } from '../../rack/macos/macos.ts';
import { rdmaObjectWords } from '../../rack/rdma/rdma-object-words.ts';
import {
  bridgePreferenceLines,
  dhcpLeaseLines,
  interfaceLines,
  routeItems,
  serviceAddressItems,
  serviceOrderItems,
} from '../status/network-lines.ts';
import { rdmaPortLines, receptacleLines } from '../status/thunderbolt-lines.ts';
import { doormanLine, fileLine, memberLine, rdmaStartLines, rebootMarkLine, treeLine } from './kept-lines.ts';
import { rdmaHolderLines } from './rdma-holder-lines.ts';

/** A line of text, or a list whose items stay whole when it needs several lines. */
export type FactLine = string | readonly string[];

/** `±`, or what stands for it in ASCII. */
type PlusMinus = string;

type Lines<K extends FactName> = (value: FactValues[K], plusMinus: PlusMinus) => readonly FactLine[];

const orNone = (lines: readonly FactLine[]): readonly FactLine[] =>
  lines.every((line) => line.length === 0) ? ['none'] : lines;

const minutesText = (minutes: number): string => (minutes === 0 ? 'never' : `after ${minutes} min`);

function powerLine({ sleepMinutes, diskSleepMinutes, restartAfterPowerLoss: restart }: PowerSettings): string {
  const words = restart === 'unsupported' ? 'cannot restart' : restart ? 'restarts' : 'stays off';
  return `sleeps ${minutesText(sleepMinutes)}, disk ${minutesText(diskSleepMinutes)}, ${words} after a power cut`;
}

function launchdLine({ label, state, pid, runs, lastExit }: LaunchdService): string {
  const more = [
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(runs === undefined ? [] : [`${runs} ${runs === 1 ? 'run' : 'runs'}`]),
    ...(lastExit === undefined ? [] : [`last ${/^[A-Z]/.test(lastExit) ? 'ended by' : 'exit'} ${lastExit}`]),
  ];
  return [`${label} ${state}`, ...more].join(', ');
}

const daemonWords = ['not loaded', 'loaded'] as const;

const fieldsText = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');

const fileStates = (files: readonly KeptFile[]): string =>
  files.map(({ path, state }) => `${path.slice(path.lastIndexOf('/') + 1)} ${state}`).join(', ') || 'no file of it';

const accountText = ({ name, uid, groups }: MacAccount): string =>
  `${name} ${uid ?? 'without a number'}${groups.includes('admin') ? ' (administrator)' : ''}`;

function testText(test: string): string {
  const [kind = '', digits = ''] = test.split('-');
  const word = { home: 'home', rdma: 'RDMA', files: 'files', gpu: 'GPU' }[kind] ?? kind;
  return digits === '' ? word : `${word} (${digits.slice(0, 16)})`;
}

const testedText = (one: CheckedAccount, result: 'passed' | 'failed'): readonly string[] =>
  one[result].length === 0 ? [] : [`${one.name} ${result} on ${one.build}: ${one[result].map(testText).join(', ')}`];

const sideText = (offsetMs: number): string => (offsetMs < 0 ? 'behind' : 'ahead of');

/** A fact that is not here has its text in its definition. */
const linesByFact: { readonly [K in FactName]?: Lines<K> } = {
  'macos-version': ({ version, extra, build }) => [`${[version, extra].filter(Boolean).join(' ')}, build ${build}`],
  hardware: ({ model, chip, memoryBytes }) => [`${model}, ${chip}, ${memoryText(memoryBytes)}`],
  identity: ({ serial, hardwareUuid }) => [`serial ${serial}`, `hardware UUID ${hardwareUuid}`],
  thunderbolt: (receptacles) => orNone(receptacleLines(receptacles)),
  'receptacle-places': (places) => orNone([places.map(({ receptacle, location }) => `${receptacle} ${location}`)]),
  'hardware-ports': (ports) => orNone([ports.map(({ port, device }) => `${port} ${device}`)]),
  interfaces: (interfaces) => orNone(interfaceLines(interfaces)),
  'dhcp-leases': (answers) => orNone(dhcpLeaseLines(answers)),
  routes: (routes) => orNone([routeItems(routes)]),
  'bridge-preferences': (bridges) => orNone(bridgePreferenceLines(bridges)),
  'network-services': (services) => orNone([serviceOrderItems(services)]),
  'rdma-switch': (state) => [state],
  'rdma-devices': (devices) => orNone([devices.map(({ name }) => name)]),
  'rdma-ports': (ports) => orNone(rdmaPortLines(ports)),
  'rdma-objects': (objects) => [rdmaObjectWords(objects)],
  'rdma-holders': (holders) => orNone(rdmaHolderLines(holders)),
  filevault: (state) => [state],
  power: (settings) => [powerLine(settings)],
  'wired-limit': ({ megabytes }) => [
    megabytes === 0 ? 'the default of macOS' : `${megabytes} MB (${memoryText(megabytes * 2 ** 20)})`,
  ],
  'boot-session': ({ uuid, bootedAtEpochSeconds }) => [`since ${utcText(bootedAtEpochSeconds)}`, uuid],
  'disk-space': ({ freeBytes, totalBytes }) => [`${diskText(freeBytes)} of ${diskText(totalBytes)} free`],
  'service-addresses': (addresses) => orNone([serviceAddressItems(addresses)]),
  files: (files) => orNone(files.map(fileLine)),
  trees: (trees) => orNone(trees.map(treeLine)),
  placements: (members) => orNone(members.map(memberLine)),
  services: (services) => orNone(services.map(launchdLine)),
  doormen: (doormen) => orNone(doormen.map(doormanLine)),
  'rdma-starts': rdmaStartLines,
  'reboot-mark': (marks) => (marks.length === 0 ? ['not set'] : marks.map(rebootMarkLine)),
  'other-rdma-devices': (names) => orNone([names]),
  spotlight: (volumes) =>
    volumes.length === 0 ? ['off, its server is disabled'] : [volumes.map(({ volume, state }) => `${volume} ${state}`)],
  'photos-analysis': (agents) => [agents.map(({ agent, state }) => `${agent} ${state}`)],
  'panic-reports': (reports) =>
    orNone([reports.map(({ name, reason }) => (reason === undefined ? name : `${name}: ${reason}`))]),
  'foreign-daemons': (daemons) =>
    orNone(
      daemons.map(
        ({ label, isLoaded, isDisabled }) =>
          `${label} ${daemonWords[Number(isLoaded)]}${isDisabled ? ', disabled' : ''}`,
      ),
    ),
  'software-updates': (updates) => orNone([updates.map(updateText)]),
  names: ({ computerName, localHostName, hostName }) => [
    [`computer ${computerName ?? 'not set'}`, `Bonjour ${localHostName ?? 'not set'}`, `host ${hostName ?? 'not set'}`],
  ],
  firewall: (state) => [state === 'blocks-all' ? 'blocks everything' : state],
  jobs: (jobs) => orNone(jobs.map(({ key, fields }) => `${key}: ${fieldsText(fields)}`)),
  leases: (leases) => orNone(leases.map(({ fields }) => fieldsText(fields))),
  hold: (holds) =>
    orNone(
      holds.map(({ reason, until, by, since, isOver }) => [
        reason,
        `by ${by} since ${since}`,
        ...(until === undefined ? [] : [`until ${until}${isOver ? ', which is over' : ''}`]),
      ]),
    ),
  rollbacks: (rollbacks) => orNone(rollbacks.map(({ state, fields }) => `${state}: ${fieldsText(fields)}`)),
  baseline: ({ values, daemons }) => [
    ...(values.length === 0
      ? ['none']
      : [values.map(({ key, text }) => (text === undefined ? `${key} (unreadable)` : key))]),
    ...daemons.map(({ label, isMoved }) => `${label} was stopped${isMoved ? ', its plist moved' : ''}`),
  ],
  traces: ({ hasFolder, trees, hasSudoers, hasKey }) =>
    orNone([
      [
        ...(hasFolder ? ['folder'] : []),
        ...(trees === 'none' || trees === 'theirs' ? [] : [trees === 'models' ? 'models' : 'trees']),
        ...(hasSudoers ? ['sudoers'] : []),
        ...(hasKey ? ['key'] : []),
      ],
    ]),
  keeper: ({ files, isLoaded, isRefused, lastChange }) => [
    files.length === 0 && !isLoaded ? 'none' : `${isLoaded ? 'loaded' : 'not loaded'}, ${fileStates(files)}`,
    ...(lastChange === undefined ? [] : [`last change: ${lastChange}`]),
    ...(isRefused ? ['macOS let no ssh session change the network preferences'] : []),
  ],
  login: (user) => [user],
  accounts: ({ accounts, begun, checked }) => [
    ...orNone([[...accounts.map(accountText), ...begun.map((name) => `${name} begun`)]]),
    ...checked.flatMap((one) =>
      [testedText(one, 'passed'), testedText(one, 'failed')].filter((items) => items.length > 0),
    ),
  ],
  'search-path': (folders) => orNone([folders]),
  sudo: (answer) => [answer === 'needs-password' ? 'needs a password' : answer],
  clock: ({ offsetMs, uncertaintyMs }, plusMinus) => [
    `${durationText(offsetMs)} ${sideText(offsetMs)} this computer (${plusMinus}${durationText(uncertaintyMs)})`,
  ],
};

/** What a known fact says; its value is the one that its own definition has parsed. */
function linesOf(name: FactName, value: unknown, plusMinus: PlusMinus): readonly FactLine[] {
  const lines = linesByFact[name] as ((value: unknown, plusMinus: PlusMinus) => readonly FactLine[]) | undefined;
  if (lines !== undefined) return lines(value, plusMinus);
  const { text } = registry[name];
  if (text === undefined) throw new Error(`${name} has no text`);
  return [text(value)];
}

/** One fact in words, most of them in one line; unescaped. */
export function factLines(name: FactName, facts: Facts, hasUnicode: boolean): readonly FactLine[] {
  const fact = factNamed(facts, name);
  if (fact.kind === 'known') return linesOf(name, fact.value, hasUnicode ? '±' : '+-');
  return [`unknown: ${reasonWords[fact.reason]}${fact.detail === '' ? '' : ` (${fact.detail})`}`];
}
