import { columnsOf } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { isHandsWork } from '../../diagnostics/manual-work.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { countText } from '../../diagnostics/severity.ts';
import { type Stage, stages, type Trouble } from '../../engine/diagnose/troubles.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import type { RdmaSwitches } from '../../rack/rdma/rdma-switch-steps.ts';
import { counted } from '../counted.ts';
import { findingLines, hangLines } from '../finding-lines.ts';
import { headLines } from '../head-lines.ts';
import { fitLines, hang } from '../layout.ts';
import { type MergedFinding, mergeFindings } from '../merge-findings.ts';
import { type Page, type Paint, pageOf } from '../page.ts';
import { budgetLines } from '../plan/budget-lines.ts';
import { evidenceWords } from './evidence-words.ts';

/** What `doctor` shows, and on what. */
export interface DoctorInput {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  /** In the order of the walk, as `troublesOf` gives them. */
  readonly troubles: readonly Trouble[];
  readonly switches: RdmaSwitches;
  readonly budgets: readonly NodeBudget[];
  readonly isSimulated: boolean;
  /** Width of the page; 80 when it is 0, NaN or endless. */
  readonly columns: number;
  readonly unicode: boolean;
  /** Leaves text as it is unless given. */
  readonly paint?: Paint;
}

const titles: Readonly<Record<Stage, string>> = {
  ring: 'At once: a ring of bridges',
  'rdma-switch': 'Switch RDMA on: one visit to each Mac',
  unlock: 'Locked Macs',
  bridges: 'Bridges, before any cable is touched',
  cables: 'Cables',
  nodes: 'On the Macs',
  told: 'Worth knowing',
};

/** Nobody plugs a cable in while a bridge may make a ring of it. */
function titleOf({ troubles }: DoctorInput, stage: Stage): string {
  const hasBridges = troubles.some((one) => one.stage === 'bridges');
  return stage === 'cables' && hasBridges ? `${titles[stage]}, when the bridges are gone` : titles[stage];
}

const narrow = 60;

/** As far in as the text of a finding stands. */
const indentOf = ({ columns }: Page): string => ' '.repeat(columns < narrow ? 4 : 11);

/** `seen     rdma_ctl status on studio-3: disabled`, each text on lines of its own; the label above them on a narrow page. */
function labelled(label: string, texts: readonly string[], page: Page): readonly string[] {
  const indent = indentOf(page);
  const isNarrow = page.columns < narrow;
  const first = isNarrow ? `${indent}  ` : `${indent}${label}`.padEnd(indent.length + 9);
  const lines = texts.flatMap((text, index) =>
    hang(index === 0 ? first : ' '.repeat(columnsOf(first)), escapeText(text), page.columns),
  );
  return isNarrow && texts.length > 0 ? [`${indent}${label}:`, ...lines] : lines;
}

function seenTexts({ observation }: DoctorInput, troubles: readonly Trouble[], page: Page): readonly string[] {
  return troubles.flatMap(({ evidence }) =>
    evidence.flatMap((one) => {
      const facts = observation.nodes[one.node]?.facts;
      const words = facts === undefined ? [] : evidenceWords(facts, one, page.unicode);
      return words.length === 0 ? [] : [`${proseText(one.source, page)} on ${one.node}: ${words.join('; ')}`];
    }),
  );
}

/** A cause with its cure, then what shows it, then what hangs on it. */
function blockOf(input: DoctorInput, merged: MergedFinding, page: Page): readonly string[] {
  const own = input.troubles.filter(({ finding }) => merged.of.includes(finding));
  const hanging = [...new Set(own.flatMap((trouble) => trouble.hanging))];
  return [
    ...findingLines(merged, page),
    ...labelled('seen', [...new Set(seenTexts(input, own, page))], page),
    ...labelled('holds up', hanging.length === 0 ? [] : [hanging.join('; ')], page),
  ];
}

/** What to press where the switch is, numbered; with a title where the Macs differ. */
function pressBlocks({ switches }: DoctorInput, page: Page): readonly (readonly string[])[] {
  const { recovery, systemSettings } = switches;
  const lists = [
    { title: 'In Recovery', visits: recovery },
    { title: 'In System Settings', visits: systemSettings },
  ];
  const areBoth = lists.every(({ visits }) => visits !== undefined);
  return lists.map(({ title, visits }) => [
    ...(areBoth ? [`${indentOf(page)}${title} (${(visits?.nodes ?? []).join(', ')}):`] : []),
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

function verdictText({ desired, observation, troubles }: DoctorInput): string {
  const names = desired.nodes.map(({ name }) => name);
  const asked = names.filter(
    (name) => Object.hasOwn(observation.nodes, name) || Object.hasOwn(observation.failures, name),
  );
  const others = names.filter((name) => !asked.includes(name));
  const notAsked = others.length === 0 ? '' : ` Not looked at: ${others.join(', ')}.`;
  const causes = mergeFindings(troubles.map(({ finding }) => finding));
  if (causes.length === 0) return `Nothing is broken on ${counted(asked.length, 'node')}.${notAsked}`;
  const hands = causes.filter((one) => isHandsWork(one) && one.severity !== 'notice').length;
  const forHands = hands === 0 ? '' : ` ${hands} of them for hands at the rack.`;
  return `${counted(causes.length, 'cause')}: ${countText(causes)}.${forHands}${notAsked}`;
}

/**
 * What is broken, in the order in which to see to it: one cause and one action per broken thing, what shows it, and
 * what hangs on it. Everything that came from a node is escaped; ends with a line break.
 */
export function doctorText(input: DoctorInput): string {
  const page = pageOf(input);
  const about = `${counted(input.desired.nodes.length, 'node')}, ${counted(input.desired.thunderbolt.links.length, 'link')}`;
  const blocks: readonly (readonly string[])[] = [
    headLines({ name: input.desired.name, about, isSimulated: input.isSimulated }, page),
    fitLines(verdictText(input), page.columns - 2).map((line) => `  ${line}`),
    ...stages.flatMap((stage) => stageBlocks(input, stage, page)),
    budgetLines(input.budgets, page),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
