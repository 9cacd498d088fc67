import { escapeText } from '../../diagnostics/escape.ts';
import { commandText, type Reader } from '../../diagnostics/prose-text.ts';
import { metLinks } from '../../engine/cables/cable-events.ts';
import type { CableAct, CableWork } from '../../engine/cables/cable-work.ts';
import type { GraphCable, GraphCableState } from '../../engine/graph/graph-cables.ts';
import { type RackGraph, rackGraph } from '../../engine/graph/rack-graph.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type LinkEnd, linkEndText } from '../../model/link.ts';
import { type Command, meshwright } from '../../model/text/command.ts';
import { speedText } from '../../model/text/units.ts';
import { counted } from '../counted.ts';
import { findingLines } from '../finding-lines.ts';
import { headLines } from '../head-lines.ts';
import { fitLines, hang, padEnd } from '../layout.ts';
import { mergeFindings } from '../merge-findings.ts';
import { type Page, type Paint, pageOf, type Tone } from '../page.ts';

/** What `cables` shows, and on what. */
export interface CablesTextInput {
  readonly desired: DesiredFleet;
  readonly work: CableWork;
  readonly isSimulated: boolean;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

const margin = '  ';

const states: Readonly<Record<GraphCableState, { readonly words: string; readonly tone: Tone }>> = {
  declared: { words: 'not looked at', tone: 'warn' },
  'as-declared': { words: 'as declared', tone: 'good' },
  slow: { words: 'as declared, but slow', tone: 'warn' },
  'through-hub': { words: 'through a hub', tone: 'warn' },
  'one-sided': { words: 'seen from one end only', tone: 'warn' },
  missing: { words: 'missing', tone: 'bad' },
  wrong: { words: 'in the wrong place', tone: 'bad' },
  undeclared: { words: 'not in the file', tone: 'warn' },
  unknown: { words: 'unknown', tone: 'warn' },
};

/** Every cable that is declared or seen, then what hands have to do about them: rings of bridged Macs before all else. */
export function cablesText(input: CablesTextInput): string {
  const { desired, work, isSimulated } = input;
  const page = pageOf(input);
  const graph = rackGraph(work.examination, work.acts);
  const counts = { declared: work.examination.cabling.links.length, met: metLinks(work).length };
  const about = `${counted(counts.declared, 'link')}, ${counts.met} as declared`;
  const blocks: readonly (readonly string[])[] = [
    headLines({ name: desired.name, about, isSimulated }, page),
    ...mergeFindings(work.loops).map((finding) => findingLines(finding, page)),
    [...cableRows(graph.cables, page), ...strayLines(graph, page)],
    placeLines(graph, page),
    ...actBlocks(work.acts, page),
    ...mergeFindings(work.findings).map((finding) => findingLines(finding, page)),
    verdictLines(work, counts, page),
  ];
  const shown = blocks.filter((lines) => lines.length > 0);
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function cableRows(cables: readonly GraphCable[], page: Page): readonly string[] {
  const width = Math.max(0, ...cables.map(({ ends }) => pairText(ends).length));
  const speeds = cables.map(({ bitsPerSecond }) => (bitsPerSecond === undefined ? '' : speedText(bitsPerSecond)));
  const speedWidth = Math.max(0, ...speeds.map((speed) => speed.length));
  return cables.flatMap(({ ends, state }, index) => {
    const { words, tone } = states[state];
    const first = `${margin}${padEnd(pairText(ends), width)}   ${padEnd(speeds[index] ?? '', speedWidth)}   `;
    const isRoom = first.length + words.length <= page.columns;
    return isRoom
      ? [`${first}${page.paint(tone, words)}`]
      : [
          ...fitLines(pairText(ends), page.columns - 2).map((line) => `${margin}${line}`),
          `${margin}${margin}${page.paint(tone, [speeds[index], words].filter(Boolean).join(', '))}`,
        ];
  });
}

const pairText = ([a, b]: GraphCable['ends']): string => `${linkEndText(a)} <-> ${linkEndText(b)}`;

/** What is plugged in and is no cable between two nodes: docks, Macs that are no node, what does not answer. */
function strayLines(graph: RackGraph, page: Page): readonly string[] {
  const inCables = new Set(graph.cables.filter(({ isSeen }) => isSeen).flatMap(({ ends }) => ends.map(linkEndText)));
  return graph.nodes.flatMap(({ name, isSeen, receptacles }) =>
    receptacles.flatMap(({ receptacle, sight, sees = 'nothing' }): readonly string[] => {
      const end = linkEndText({ node: name, receptacle });
      const isPlain = sight === 'empty' || sight === 'nothing' || sees === 'nothing' || !isSeen;
      return isPlain || inCables.has(end) ? [] : hang(`${margin}${end} `, `sees ${escapeText(sees)}`, page.columns);
    }),
  );
}

/** Where receptacles are that a line above names, as far as it is known. */
function placeLines(graph: RackGraph, page: Page): readonly string[] {
  const named = new Set(graph.cables.flatMap(({ ends }) => ends.map(linkEndText)));
  const byPlace = new Map<string, LinkEnd[]>();
  for (const { name, receptacles } of graph.nodes) {
    for (const { receptacle, place } of receptacles) {
      const end = { node: name, receptacle };
      if (place === undefined || !named.has(linkEndText(end))) continue;
      byPlace.set(place.words, [...(byPlace.get(place.words) ?? []), end]);
    }
  }
  return [...byPlace].flatMap(([place, ends]) =>
    hang(margin, `${ends.map(linkEndText).join(', ')}: ${place}`, page.columns).map((line) => page.paint('dim', line)),
  );
}

const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** What has to be done before an act, as one clause: `stop kimi (meshwright stop kimi)`. */
export function beforeText(act: CableAct, reader: Reader): string {
  const { stopFirst, bridgesFirst, appliedFirst } = act;
  const withVerb = (words: string, typed: Command): string =>
    words === '' ? '' : `${words} (${commandText(typed, reader)})`;
  const stop = stopFirst.length === 0 ? '' : `stop ${stopFirst.join(' and ')}`;
  const bridges = `${withVerb(appliedFirst, meshwright('apply'))}${bridgesFirst.slice(appliedFirst.length)}`;
  return [withVerb(stop, meshwright('stop', ...stopFirst)), bridges].filter((text) => text !== '').join(' and ');
}

/** The acts with their numbers: those that can be done now, then those that something else comes before. */
function actBlocks(acts: readonly CableAct[], page: Page): readonly (readonly string[])[] {
  const numbered = acts.map((act, index) => ({ act, number: index + 1 }));
  const width = String(acts.length).length;
  const block = (title: string, isFree: boolean): readonly string[] => {
    const own = numbered.filter(({ act }) => act.isFree === isFree);
    if (own.length === 0) return [];
    return [
      page.paint('strong', `${title} (${own.length})`),
      ...own.flatMap(({ act, number }) => {
        const before = beforeText(act, page);
        const text = before === '' ? act.text : `first ${before}; then ${act.text}`;
        return hang(`${margin}${String(number).padStart(width)}  `, `${upperFirst(text)}.`, page.columns);
      }),
    ];
  };
  return [block('Hands needed at the rack', true), block('Hands have to wait with this', false)];
}

interface Counts {
  readonly declared: number;
  readonly met: number;
}

/** A command stays in one piece, for copying. */
function verdictLines({ acts, examination }: CableWork, { declared, met }: Counts, page: Page): readonly string[] {
  if (declared > 0 && acts.length > 0) {
    const command = commandText(meshwright('cables', '--watch'), page);
    const line = `See it done, act by act: ${command}`;
    return line.length <= page.columns ? [line] : ['See it done, act by act:', `${margin}${command}`];
  }
  const unknown = examination.cabling.links.filter(({ judgement }) => judgement.kind === 'unknown').length;
  if (declared === 0) return ['The file declares no link.'];
  if (unknown > 0) return [`${counted(unknown, 'link')} could not be judged.`];
  return [met === declared ? allMetText(met) : `${met} of ${counted(declared, 'link')} are as declared.`];
}

/** The sentence when nothing is left to do. */
export const allMetText = (links: number): string =>
  links === 1 ? 'The one link is as declared.' : `All ${links} links are as declared.`;
