import { columnsOf } from '../diagnostics/cells.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { reasonWords } from '../diagnostics/prose-text.ts';
import { type FactName, registry } from '../engine/observe/facts.ts';
import type { Facts } from '../model/facts/fact-values.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { type FactDefinition, type FactLine, factNamed } from '../rack/fact.ts';
import { fitLines, flow, isNarrow, type Page, padEnd } from './page.ts';

interface FactsInput {
  readonly observation: FleetObservation;
  /** The nodes to show, in this order. Nodes that were not observed are skipped. */
  readonly order: readonly string[];
  readonly names: readonly FactName[];
}

/** A fact's value as text, usually one line; unescaped. */
export function valueLines<V>(fact: FactDefinition<string, V>, value: V, hasUnicode: boolean): readonly FactLine[] {
  const text = fact.text(value, hasUnicode ? '±' : '+-');
  const lines = typeof text === 'string' ? [text] : text;
  return lines.every(({ length }) => length === 0) ? ['none'] : lines;
}

const margin = '  ';

function headLine(name: string, page: Page): string {
  const { isSimulated } = page;
  const mark = isSimulated ? 'simulated' : '';
  const blanks = Math.max(3, page.columns - columnsOf(name) - mark.length);
  return `${page.paint('strong', name)}${isSimulated ? ' '.repeat(blanks) : ''}${mark}`;
}

function fitLine(line: FactLine, columns: number): readonly string[] {
  if (typeof line === 'string') return fitLines(escapeText(line), columns);
  const items = line.map((item, index) => `${escapeText(item)}${index < line.length - 1 ? ',' : ''}`);
  return flow(items, ' ', columns);
}

function oneFact(name: FactName, facts: Facts, width: number, page: Page): readonly string[] {
  const fact = factNamed(facts, name);
  const lines =
    fact.kind === 'known'
      ? valueLines(registry[name], fact.value, page.unicode)
      : [`unknown: ${reasonWords[fact.reason]}${fact.detail === '' ? '' : ` (${fact.detail})`}`];
  const indent = isNarrow(page) ? `${margin}${margin}` : ' '.repeat(margin.length + width + 2);
  const shown = lines.flatMap((line) => {
    const [first = '', ...rest] = fitLine(line, page.columns - indent.length - 2);
    return [first, ...rest.map((more) => `  ${more}`)];
  });
  const [top = '', ...others] = fact.kind === 'known' ? shown : shown.map((line) => page.paint('warn', line));
  const label = page.paint('dim', padEnd(name, isNarrow(page) ? 0 : width));
  const below = others.map((line) => `${indent}${line}`);
  return isNarrow(page) ? [`${margin}${label}`, `${indent}${top}`, ...below] : [`${margin}${label}  ${top}`, ...below];
}

const isUnreached = (facts: Facts): boolean =>
  Object.values(facts).every((fact) => fact.kind === 'unknown' && fact.reason === 'unreachable');

/** Each node's facts in readable units, or why they are unknown. Text from nodes is escaped. */
export function factsText({ observation, order, names }: FactsInput, page: Page): string {
  const width = Math.max(0, ...names.map((name) => name.length));
  const blocks = order.flatMap((node) => {
    const facts = Object.hasOwn(observation.nodes, node) ? observation.nodes[node]?.facts : undefined;
    if (facts === undefined) return [];
    const lines = isUnreached(facts)
      ? [`${margin}${page.paint('bad', 'not observed')}: ${observation.failures[node]?.[0]?.summary ?? 'no answer'}`]
      : names.flatMap((name) => oneFact(name, facts, width, page));
    return [[headLine(node, page), ...lines].join('\n')];
  });
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`;
}
