import { columnsOf } from '../diagnostics/cells.ts';
import { countText, isHandsWork } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { diagnosticJson, documentHead } from '../diagnostics/json.ts';
import { commandText, proseText, type Reader, reasonWords } from '../diagnostics/prose-text.ts';
import { areaOf } from '../engine/diagnose/rules.ts';
import { surveyFleet } from '../engine/diagnose/survey.ts';
import { type Evidence, type Stage, stages, type Trouble } from '../engine/diagnose/troubles.ts';
import { registry } from '../engine/observe/facts.ts';
import type { DoctorDocument, DoctorTrouble, DoctorVisits } from '../model/documents.generated.ts';
import type { Facts, NetworkInterface, ThunderboltReceptacle } from '../model/facts/fact-values.ts';
import type { RdmaPort } from '../model/facts/rdma.ts';
import { given } from '../model/given.ts';
import { alike } from '../model/lists.ts';
import { everyNodeText } from '../model/node.ts';
import { isPlacement, subjectNames, subjectNodes } from '../model/subject.ts';
import { commandKey, meshwright } from '../model/text/command.ts';
import { commandsIn } from '../model/text/prose.ts';
import { speedText } from '../model/text/units.ts';
import { thunderboltFact } from '../rack/cables/fact.ts';
import { type FactDefinition, factNamed, read } from '../rack/fact.ts';
import { interfacesFact } from '../rack/network/interfaces-fact.ts';
import { thunderboltInterfaces } from '../rack/network/interfaces-reading.ts';
import type { NodeBudget } from '../rack/placement/placement-blockers.ts';
import { rdmaPortsFact } from '../rack/rdma/devices-fact.ts';
import type { RdmaSwitches, RdmaVisits } from '../rack/rdma/switch-reading.ts';
import { valueLines } from './facts-text.ts';
import { findingLines, hangLines, type MergedFinding, mergeFindings } from './findings.ts';
import { counted, fitLines, hang, headLines, isNarrow, type Page, pageText } from './page.ts';
import { budgetLines } from './plan/memory-lines.ts';
import { launchesJson, type StatusInput } from './status/status-json.ts';

interface DoctorInput extends Pick<StatusInput, 'desired' | 'observation' | 'isSimulated'> {
  readonly troubles: readonly Trouble[];
  readonly switches: RdmaSwitches;
  readonly budgets: readonly NodeBudget[];
}

const visitsJson = ({ nodes, steps }: RdmaVisits, reader: Reader): DoctorVisits => ({
  nodes,
  steps: steps.map((step) => proseText(step, reader)),
});

const switchesJson = ({ recovery, systemSettings }: RdmaSwitches, reader: Reader) =>
  given({
    recovery: recovery && visitsJson(recovery, reader),
    systemSettings: systemSettings && visitsJson(systemSettings, reader),
  });

function troubleJson(reader: DoctorInput, trouble: Trouble): DoctorTrouble {
  const { desired, observation, troubles } = reader;
  const { finding, stage, evidence, hanging } = trouble;
  const shown = evidence.map((one) => {
    const facts = observation.nodes[one.node]?.facts;
    const says = facts === undefined ? [] : evidenceWords(facts, one, true);
    return { node: one.node, fact: one.fact, source: proseText(one.source, reader), says };
  });
  const { subject } = finding;
  const closed = troubles.flatMap(({ finding: one }) => (areaOf(one) === 'sudo' ? subjectNodes(one.subject) : []));
  const own = desired.placements.find(({ name }) => isPlacement(subject, name))?.nodes ?? subjectNodes(subject);
  const isClosed = own.some((name) => closed.includes(name));
  const refused = (trouble.refused ?? []).map(commandKey);
  const commands = commandsIn(finding.hint, subjectNames(subject))
    .filter((one) => !refused.includes(commandKey(one)) && (!isClosed || one.verb === 'exec'))
    .map((one) => commandText(one, reader));
  return { ...diagnosticJson(finding, reader), stage, evidence: shown, hanging, commands };
}

/** The JSON form of `doctor`. Text from nodes is unescaped: print the result with `jsonText`. */
export function doctorJson(input: DoctorInput): DoctorDocument {
  const { desired, observation, troubles, switches, isSimulated } = input;
  return {
    ...documentHead({ isSimulated }, { cluster: desired.name }),
    notAsked: surveyFleet(desired, observation).notAsked,
    troubles: troubles.map((trouble) => troubleJson(input, trouble)),
    ...switchesJson(switches, input),
    launches: launchesJson(input.budgets),
  };
}

const titles: Readonly<Record<Stage, string>> = {
  ring: 'Fix first: a ring of bridges',
  'rdma-switch': 'Enable RDMA: one visit to each Mac',
  unlock: 'Locked Macs',
  bridges: 'Bridges to fix before you touch any cable',
  cables: 'Cables',
  nodes: 'On the Macs',
  reported: 'Worth knowing',
};

/** A cable that is plugged in while bridges exist can close a ring. */
function titleOf({ troubles }: DoctorInput, stage: Stage): string {
  const hasBridges = troubles.some((one) => one.stage === 'bridges');
  return stage === 'cables' && hasBridges ? `${titles[stage]}, once the bridges are removed` : titles[stage];
}

const indentOf = (page: Page): string => ' '.repeat(isNarrow(page) ? 4 : 11);

/** Lines such as `seen     rdma_ctl status on studio-3: disabled`; a narrow page has the label above a list. */
function labelled(label: string, texts: readonly string[], page: Page): readonly string[] {
  if (isNarrow(page)) {
    const items = texts.flatMap((text) => hang('  - ', escapeText(text), page.columns));
    return items.length === 0 ? [] : [`  ${label}:`, ...items];
  }
  const indent = indentOf(page);
  const first = `${indent}${label}`.padEnd(indent.length + 9);
  return texts.flatMap((text, index) =>
    hang(index === 0 ? first : ' '.repeat(columnsOf(first)), escapeText(text), page.columns),
  );
}

function seenTexts({ desired, observation }: DoctorInput, troubles: readonly Trouble[], page: Page): readonly string[] {
  const all = troubles.flatMap(({ evidence }) =>
    evidence.flatMap((one) => {
      const facts = observation.nodes[one.node]?.facts;
      const words = facts === undefined ? [] : evidenceWords(facts, one, page.unicode);
      return words.length === 0 ? [] : [{ node: one.node, text: [proseText(one.source, page), words.join('; ')] }];
    }),
  );
  return alike(all, ({ text }) => text.join('\n')).map(([{ text }, same]) => {
    const nodes = desired.nodes.map(({ name }) => name).filter((name) => same.some(({ node }) => node === name));
    return text.join(` on ${everyNodeText(nodes)}: `);
  });
}

function blockOf(input: DoctorInput, merged: MergedFinding, page: Page): readonly string[] {
  const own = input.troubles.filter(({ finding }) => merged.of.includes(finding));
  const hanging = [...new Set(own.flatMap((trouble) => trouble.hanging))];
  const restarts = [...new Set(own.flatMap((trouble) => trouble.restarts ?? []))];
  const then = restarts.map((name) => `restart ${name}: ${commandText(meshwright('restart', name), page)}`);
  return [
    ...findingLines(merged, page),
    ...labelled('seen', seenTexts(input, own, page), page),
    ...labelled('blocks', hanging.length === 0 ? [] : [hanging.join('; ')], page),
    ...labelled('then', then, page),
  ];
}

/** The numbered steps to enable RDMA. They are titled if some Macs need Recovery and others System Settings. */
function pressBlocks({ switches }: DoctorInput, page: Page): readonly (readonly string[])[] {
  const { recovery, systemSettings } = switches;
  const lists = [
    { title: 'In Recovery', visits: recovery },
    { title: 'In System Settings', visits: systemSettings },
  ];
  const areBoth = lists.every(({ visits }) => visits !== undefined);
  return lists.map(({ title, visits }) => [
    ...(areBoth ? [`${indentOf(page)}${title} (${everyNodeText(visits?.nodes ?? [])}):`] : []),
    ...(visits?.steps ?? []).flatMap((step, index) => hangLines(`${indentOf(page)}${index + 1}  `, step, page)),
  ]);
}

function stageBlocks(input: DoctorInput, stage: Stage, page: Page): readonly (readonly string[])[] {
  const findings = input.troubles.filter((one) => one.stage === stage).map(({ finding }) => finding);
  if (findings.length === 0) return [];
  const merged = mergeFindings(findings);
  const blocks = merged.map((one) => blockOf(input, one, page));
  const lists = stage === 'rdma-switch' ? pressBlocks(input, page) : [];
  const [first = [], ...rest] = [...blocks, ...lists].filter((lines) => lines.length > 0);
  const head = fitLines(titleOf(input, stage), page.columns).map((line) => page.paint('strong', line));
  return [[...head, ...first], ...rest];
}

function rackText(hands: number, causes: number): string {
  if (hands === 0) return '';
  const who = hands < causes ? `${hands} of them` : causes === 1 ? 'It' : 'All';
  return ` ${who} ${hands === 1 ? 'needs' : 'need'} a manual step at the rack.`;
}

function verdictText({ desired, observation, troubles }: DoctorInput): string {
  const others = surveyFleet(desired, observation).notAsked;
  const unseen = others.length === 0 ? '' : ` Not observed: ${everyNodeText(others)}.`;
  const causes = mergeFindings(troubles.map(({ finding }) => finding));
  if (causes.length === 0)
    return `No problems found on ${counted(desired.nodes.length - others.length, 'node')}.${unseen}`;
  const hands = causes.filter((one) => isHandsWork(one) && one.severity !== 'notice').length;
  return `${countText(causes)}.${rackText(hands, causes.length)}${unseen}`;
}

/** The problems in repair order: cause, action, evidence, and what they block. Node text is escaped. */
export function doctorText(input: DoctorInput, page: Page): string {
  const about = `${counted(input.desired.nodes.length, 'node')}, ${counted(input.desired.thunderbolt.links.length, 'link')}`;
  return pageText([
    headLines(input.desired.name, about, page),
    fitLines(verdictText(input), page.columns - 2).map((line) => `  ${line}`),
    ...stages.flatMap((stage) => stageBlocks(input, stage, page)),
    budgetLines(input.budgets, page),
  ]);
}

const rdmaServiceWords = (advertises: boolean | 'unknown'): string => {
  if (advertises === 'unknown') return 'whether it advertises RDMA is unknown';
  return advertises ? 'it advertises RDMA' : 'it advertises no RDMA (service 64087 absent)';
};

function receptacleWords({ state, linkBitsPerSecond, peers, devices }: ThunderboltReceptacle): string {
  if (state === 'unknown') return 'unknown, macOS does not describe it';
  if (state === 'empty') return 'nothing plugged in';
  const speed = linkBitsPerSecond === undefined ? [] : [speedText(linkBitsPerSecond)];
  if (state === 'silent') return [...speed, 'the device does not answer'].join(', ');
  const macs = peers.map(({ model, advertisesRdma, hubsBetween }) => {
    const hub = hubsBetween === 0 ? '' : ' behind a hub';
    return `a ${model}${hub}: ${rdmaServiceWords(advertisesRdma)}`;
  });
  return [...speed, ...devices.map(({ name }) => name), ...macs].join(', ');
}

/** The interfaces of these receptacles; undefined if the mapping is unknown. */
function namesAt(facts: Facts, receptacles: readonly number[]): readonly string[] | undefined {
  const all = thunderboltInterfaces(facts);
  return all === undefined ? undefined : receptacles.flatMap((receptacle) => all.get(receptacle) ?? []);
}

const valueWords = <V>(fact: FactDefinition<string, V>, value: V, hasUnicode = true): readonly string[] =>
  valueLines(fact, value, hasUnicode).map((line) => (typeof line === 'string' ? line : line.join(', ')));

/** For bridges, only the members matter, not the addresses. */
function interfaceWords(one: NetworkInterface): readonly string[] {
  const state = `${one.name} ${one.isUp ? (one.status ?? 'up') : 'down'}`;
  if (one.members.length > 0) return [`${state}, bridges ${one.members.join(' ')}`];
  return one.ipv4.length > 0 ? valueWords(interfacesFact, [one]) : [`${state}, no IPv4`];
}

/** The receptacles' interfaces, and all bridges that contain one of them. */
function interfacesWords(all: readonly NetworkInterface[], names: readonly string[]): readonly string[] {
  const isIt = ({ name, members }: NetworkInterface): boolean =>
    names.includes(name) || members.some((member) => names.includes(member));
  return all.filter(isIt).flatMap(interfaceWords);
}

const portsOf = (ports: readonly RdmaPort[], names: readonly string[]): readonly RdmaPort[] =>
  ports.filter(({ device }) => names.some((name) => device === `rdma_${name}`));

/** The part of a fact for these receptacles; undefined if the fact is not per receptacle. */
function placeWords(facts: Facts, { fact, receptacles }: Evidence): readonly string[] | undefined {
  if (receptacles.length === 0) return undefined;
  const thunderbolt = read(facts, thunderboltFact);
  const interfaces = read(facts, interfacesFact);
  const ports = read(facts, rdmaPortsFact);
  if (fact === 'thunderbolt' && thunderbolt.kind === 'known') {
    return thunderbolt.value
      .filter(({ receptacle }) => receptacles.includes(receptacle))
      .map((one) => `receptacle ${one.receptacle}: ${receptacleWords(one)}`);
  }
  const names = namesAt(facts, receptacles);
  if (names === undefined) return undefined;
  if (fact === 'interfaces' && interfaces.kind === 'known') return interfacesWords(interfaces.value, names);
  return fact === 'rdma-ports' && ports.kind === 'known'
    ? valueWords(rdmaPortsFact, portsOf(ports.value, names))
    : undefined;
}

/** The text lines of the fact behind some evidence, unescaped. */
function evidenceWords(facts: Facts, evidence: Evidence, hasUnicode: boolean): readonly string[] {
  const fact = factNamed(facts, evidence.fact);
  if (fact.kind === 'unknown') return [`unknown, ${reasonWords[fact.reason]}: ${fact.detail}`];
  const words = placeWords(facts, evidence);
  if (words !== undefined) return words.length === 0 ? ['none'] : words;
  return valueWords(registry[evidence.fact], fact.value, hasUnicode);
}
