import { columnsOf, firmSpace } from '../../diagnostics/cells.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeFit } from '../../model/fit.ts';
import type { EndpointStatus } from '../../model/gateway.ts';
import { seenValue } from '../../model/known.ts';
import { groupBy } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import type { Prose } from '../../model/text/prose.ts';
import { durationText, memoryText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { swapFact } from '../../rack/memory/fact.ts';
import type { ClientCounts, PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import { counted, flow, hang, headLines, type Page, padEnd } from '../page.ts';
import { memoryLines } from '../plan/memory-lines.ts';
import { toneOf } from './status-text.ts';

/** One check of `status --watch`. */
export interface WatchInput {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  readonly placements: readonly PlacementSurvey[];
  readonly clients: readonly ClientCounts[];
  /** The GPU memory that placements need. */
  readonly memory: readonly NodeFit[];
  /** Since when each placement has its state: `06:11:06`, or `before 06:11:06`. */
  readonly since: ReadonlyMap<string, { readonly text: string }>;
  /** The Mac or the cable that holds up a placement, by the placement's name. */
  readonly late: ReadonlyMap<string, Prose>;
}

const titles = 'placement,state,tokens/s,in flight,answered'.split(',');

/** The live table: placements with their clients' requests, why one does not serve, and the memory of the Macs. */
export function watchLines(input: WatchInput, page: Page): readonly string[] {
  const { desired, placements, memory } = input;
  const sizes = [counted(desired.nodes.length, 'node'), counted(placements.length, 'placement')].join(', ');
  const rows = placements.map((one) => ({ one, cells: cellsOf(one, input) }));
  const widths = titles.map((title, at) =>
    Math.max(...[title, ...rows.map(({ cells }) => cells[at] ?? '')].map(columnsOf)),
  );
  const isTable = widths.reduce((sum, width) => sum + width + 3, -1) <= page.columns;
  const line = (cells: readonly string[], paint = (text: string) => text): string => {
    const padded = cells.map(
      (cell, at) => `${at === 1 ? paint(cell) : cell}${padEnd(cell, widths[at] ?? 0).slice(cell.length)}`,
    );
    return `  ${padded.join('   ')}`.trimEnd();
  };
  return [
    ...headLines(desired.name, sizes, page),
    '',
    ...(isTable && rows.length > 0 ? [page.paint('strong', line(titles))] : []),
    ...rows.flatMap(({ one, cells }) => {
      const paint = (text: string): string => page.paint(toneOf(one), text);
      const reasons = reasonsOf(one, input).flatMap((text) => hang('    ', text, page.columns));
      return isTable ? [line(cells, paint), ...reasons] : stackedLines(cells, reasons, { ...page, paint });
    }),
    ...(rows.length > 0 ? [''] : []),
    ...memoryLines(memory, page),
    ...hang('', `Swap in use: ${swapText(input)}`, page.columns),
  ];
}

/** A placement on a narrow page: its name and state, the reasons, and the other cells with their titles. */
function stackedLines(
  [name = '', state = '', ...others]: readonly string[],
  reasons: readonly string[],
  { columns, paint }: Pick<Page, 'columns'> & { readonly paint: (text: string) => string },
): readonly string[] {
  const isOneLine = columnsOf(`  ${name}   ${state}`) <= columns;
  const head = isOneLine ? [`  ${name}   ${paint(state)}`] : [...hang('  ', name, columns), `    ${paint(state)}`];
  const cells = others.map((cell, at) => `${titles[at + 2]} ${cell}`);
  return [...head, ...reasons, ...flow(cells, '   ', columns - 4).map((line) => `    ${line}`)];
}

const countsOf = ({ name }: PlacementSurvey, { clients }: WatchInput): EndpointStatus | undefined => {
  const status = clients.find(({ placement }) => placement === name)?.status;
  return status === undefined ? undefined : seenValue(status);
};

function cellsOf(one: PlacementSurvey, input: WatchInput): readonly string[] {
  const status = countsOf(one, input);
  return [
    one.name,
    one.state.replace('-', ' '),
    speedText(one, status),
    status === undefined ? 'unknown' : inFlightText(status),
    status === undefined ? 'unknown' : answeredText(status),
  ];
}

/** The speed of the last answer to a client, otherwise that of the last start. */
function speedText({ state, tokensPerSecond }: PlacementSurvey, status: EndpointStatus | undefined): string {
  if (state === 'unknown') return 'unknown';
  if (state !== 'serving') return '-';
  const speed = status?.counts.generating.lastPerSecond || tokensPerSecond;
  return speed === undefined ? 'unknown' : speed.toFixed(1);
}

const inFlightText = ({ running, waiting }: EndpointStatus): string =>
  `${running + waiting}${waiting === 0 ? '' : ` (${waiting} waiting)`}`;

const answeredText = ({ counts: { requests, failed } }: EndpointStatus): string =>
  `${requests}${failed === 0 ? '' : ` (${failed} failed)`}`;

/** Since when and why a placement does not serve, the failing or late rank if known, and silent or refused requests. */
function reasonsOf(one: PlacementSurvey, input: WatchInput): readonly string[] {
  const { name, state, standing, evidence, failure } = one;
  const { quietMs, closed } = countsOf(one, input) ?? {};
  const isFine = state === 'serving' || (standing === 'met' && state !== 'unknown');
  return [
    ...(isFine ? [] : [`${state.replace('-', ' ')} since ${input.since.get(name)?.text}: ${evidence}`]),
    ...(isFine || failure === undefined ? [] : [`first failure: ${failure.rank}: ${failure.meaning}`]),
    ...(isFine ? [] : [plainText(input.late.get(name) ?? '').trimStart()]),
    ...(quietMs === undefined ? [] : [`requests in flight got no output for ${durationText(quietMs)}`]),
    ...(closed === undefined || standing === 'met' ? [] : [`its gateway refuses requests: ${closed}`]),
  ].flatMap((text) => (text === '' ? [] : escapeText(text.replace(/\.$/, ''))));
}

/** `0 GB on studio-1..4`: Macs with the same amount together, unknown where it was not observed. */
function swapText({ desired, observation }: WatchInput): string {
  const asked = desired.nodes.filter(({ name }) => observation.nodes[name] !== undefined);
  const amounts = groupBy(asked, ({ name }) => {
    const swap = readValue(observation.nodes[name]?.facts, swapFact);
    return swap === undefined ? 'unknown' : memoryText(swap.usedMegabytes * 2 ** 20);
  });
  return [...amounts]
    .map(([text, same]) => `${text.replace(' ', firmSpace)} on ${everyNodeText(same.map(({ name }) => name))}`)
    .join('; ');
}

/** One placement's state for an output without a terminal, which gets a line per change. */
export function watchedText(one: PlacementSurvey, input: WatchInput): string {
  const status = countsOf(one, input);
  const speed = one.state === 'serving' ? `, ${speedText(one, status)} tokens/s` : '';
  const requests = status === undefined ? 'unknown' : inFlightText(status);
  const reasons = reasonsOf(one, input);
  const said = [`${one.name} ${one.state.replace('-', ' ')}${speed}, in flight: ${requests}`, ...reasons];
  return said.join('; ');
}
