import { firmSpace } from '../diagnostics/cells.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { diagnosticJson, documentHead } from '../diagnostics/json.ts';
import { commandText, proseText, type Reader } from '../diagnostics/prose-text.ts';
import { type CableAct, type CableEvent, type CableWork, metLinks, type Plug } from '../engine/cables/cable-work.ts';
import { type GraphCable, type GraphCableState, type RackGraph, rackGraph } from '../engine/rack-graph.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { CablesDocument } from '../model/documents.generated.ts';
import { given } from '../model/given.ts';
import { groupBy } from '../model/lists.ts';
import type { NewestMeasurement } from '../model/measured-cable.ts';
import { type Link, type LinkEnd, linkEndText } from '../model/node.ts';
import { subjectName } from '../model/subject.ts';
import { type Command, meshwright } from '../model/text/command.ts';
import { upperFirst } from '../model/text/prose.ts';
import { speedText } from '../model/text/units.ts';
import { findingLines, mergeFindings } from './findings.ts';
import { measuredText } from './measured-cables.ts';
import { counted, fitLines, flow, hang, headLines, type Page, padEnd, pageText, type Tone } from './page.ts';
import { marks } from './status/status-text.ts';

interface CablesJsonInput {
  readonly desired: DesiredFleet;
  readonly work: CableWork;
  /** Rings of bridged Macs first, followed by all others. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The JSON form of `cables`. Text from nodes is unescaped: print the result with `jsonText`. */
export function cablesJson({ desired, work, diagnostics }: CablesJsonInput, reader: Reader): CablesDocument {
  const { cables, nodes } = rackGraph(work.examination, work.acts, work.measured);
  return {
    ...documentHead(reader, { cluster: desired.name }),
    cables: cables.map(({ ends, isDeclared, isSeen, state, bitsPerSecond, moves, measured }) => ({
      ends: [linkEndText(ends[0]), linkEndText(ends[1])],
      declared: isDeclared,
      seen: isSeen,
      // `declared` occurs only in a drawing from the file without an observation.
      state: state === 'declared' ? 'unknown' : state,
      ...given({ bitsPerSecond, measured: measuredJson(measured) }),
      moves,
    })),
    nodes: Object.fromEntries(
      nodes.map(({ name, isSeen, receptacles }) => [
        name,
        isSeen
          ? receptacles.map(({ receptacle, place, sight, sees = '' }) => ({
              receptacle,
              ...(place === undefined ? {} : { place: place.words }),
              sight,
              sees,
            }))
          : null,
      ]),
    ),
    moves: work.acts.map(({ kind, text, stopFirst, bridgesFirst, isFree }, index) => ({
      number: index + 1,
      kind,
      text,
      stopFirst,
      ...(bridgesFirst === '' ? {} : { bridgesFirst }),
      free: isFree,
    })),
    diagnostics: diagnostics.map((one) => diagnosticJson(one, reader)),
  };
}

function measuredJson(measurement: NewestMeasurement | undefined) {
  if (measurement === undefined) return undefined;
  const { ends: _ends, ...result } = measurement.cable;
  return { at: measurement.at, ...result };
}

/** `studio-2 receptacle 4`. */
const endWords = ({ node, receptacle }: LinkEnd): string => `${node} receptacle ${receptacle}`;

const speedWords = (bitsPerSecond: number | undefined): string =>
  bitsPerSecond === undefined ? '' : ` at ${speedText(bitsPerSecond)}`;

const farWords = ({ far, sees }: Plug): string => (far === undefined ? sees : endWords(far));

/** The receptacle that was handled; both cable ends if it is unknown which one was handled. */
const placeWords = ({ at, far }: { readonly at: LinkEnd; readonly far?: LinkEnd | undefined }): string =>
  far === undefined ? endWords(at) : `${endWords(at)} or ${endWords(far)}`;

/** One line per plug that was plugged in or unplugged, declared or not, to identify cables. */
export function identifyLines(plug: Plug, isPlugged: boolean, page: Page): readonly string[] {
  const speed = speedWords(plug.bitsPerSecond);
  if (plug.isEitherEnd) {
    return hang(`${placeWords(plug)}: `, isPlugged ? `plugged in${speed}` : 'unplugged', page.columns);
  }
  const seen = `sees ${escapeText(farWords(plug))}${speed}`;
  const gone = `unplugged from ${escapeText(farWords(plug))}`;
  return hang(`${endWords(plug.at)}: `, isPlugged ? `plugged in, ${seen}` : gone, page.columns);
}

export function eventLines(event: CableEvent, page: Page): readonly string[] {
  switch (event.kind) {
    case 'met': {
      const [a, b] = event.ends;
      const text = `${linkEndText(a)} <-> ${linkEndText(b)} matches the file${speedWords(event.bitsPerSecond)}`;
      return hang('', text, page.columns).map((line) => page.paint('good', line));
    }
    case 'plugged':
      return hang('plugged in: ', `${placeWords(event)}; ${escapeText(event.advice)}`, page.columns).map((line) =>
        page.paint('bad', line),
      );
    case 'unplugged':
      return hang('unplugged: ', unpluggedText(event.plug), page.columns);
  }
}

const unpluggedText = (plug: Plug): string =>
  plug.isEitherEnd ? placeWords(plug) : `${endWords(plug.at)}, from ${escapeText(farWords(plug))}`;

/**
 * The next manual steps and the progress, as paragraphs that are redrawn after each change.
 * @param lost nodes that do not answer
 */
export function watchParagraphs(work: CableWork, lost: readonly string[], page: Page): readonly (readonly string[])[] {
  return [
    ...work.loops.map((loop) =>
      hang(
        '  STOP: ',
        `${loop.subject === undefined ? '' : subjectName(loop.subject)}: ${proseText(loop.hint, page, firmSpace)}`,
        page.columns,
      ).map((line) => page.paint('bad', line)),
    ),
    hang('  next: ', nextText(work, lost), page.columns).map((line) => page.paint('strong', line)),
    ...work.acts.filter(({ isFree }) => !isFree).map((act) => hang('  wait: ', waitText(act, page), page.columns)),
    countLines(work, page),
    ...(lost.length === 0 ? [] : [hang('  not observed: ', lost.join(', '), page.columns)]),
  ];
}

const waitText = (act: CableAct, page: Page): string => {
  const before = beforeText(act, page);
  return before === '' ? `${act.text}, after the previous step` : `first ${before}; then ${act.text}`;
};

/** While bridged Macs form a ring, no other step is shown. */
function nextText(work: CableWork, lost: readonly string[]): string {
  const next = work.acts.find(({ isFree }) => isFree);
  if (work.loops.length > 0) return 'unplug the cable named above first';
  if (next !== undefined) return next.text;
  if (work.acts.length > 0) return 'no cable can be moved yet';
  if (lost.length > 0) return `unknown until ${lost.join(' and ')} can be observed`;
  return work.findings.length > 0 ? 'no cable yet; first do what is listed above' : 'nothing';
}

/** `done: 1-2  1-3   missing: 2-4`: the declared links, by their nodes. */
function countLines(work: CableWork, page: Page): readonly string[] {
  const short = shortNames(work.examination.desired.nodes.map(({ name }) => name));
  const pairText = ([a, b]: Link['ends']): string => `${short(a.node)}-${short(b.node)}`;
  const met = metLinks(work).map(({ ends }) => ends);
  const others = work.examination.cabling.links.filter(({ link }) => !met.includes(link.ends));
  const isOpen = (kind: string): boolean => kind === 'missing' || kind === 'unknown';
  const lists = [
    ['done', met],
    ['wrong', others.filter(({ judgement }) => !isOpen(judgement.kind)).map(({ link }) => link.ends)],
    ['missing', others.filter(({ judgement }) => judgement.kind === 'missing').map(({ link }) => link.ends)],
    ['unknown', others.filter(({ judgement }) => judgement.kind === 'unknown').map(({ link }) => link.ends)],
  ] as const;
  const pieces = lists
    .filter(([name, links]) => name === 'done' || name === 'missing' || links.length > 0)
    .map(([name, links]) => `${name}: ${links.length === 0 ? '-' : links.map(pairText).join('  ')}`);
  return flow(pieces, '     ', page.columns - 2).map((line) => `  ${line}`);
}

/** Removes the common stem from numbered names: `1` for `studio-1`. */
function shortNames(names: readonly string[]): (name: string) => string {
  const stems = new Set(names.map((name) => name.replace(/[0-9]{1,9}$/, '')));
  const isNumbered = names.length > 1 && stems.size === 1 && names.every((name) => /[0-9]$/.test(name));
  const [stem = ''] = stems;
  return (name) => (isNumbered && name.startsWith(stem) ? name.slice(stem.length) : name);
}

export const doneLine = (links: number, page: Page): string =>
  page.paint('good', links === 0 ? 'The file declares no links.' : allMetText(links));

const margin = '  ';

/** A cable's state looks like its receptacles' reading, unless only cables can have the state. */
const states: Readonly<Record<GraphCableState, { readonly means: string; readonly tone: Tone }>> = {
  ...marks,
  declared: { means: 'not checked', tone: 'warn' },
  missing: { means: 'missing', tone: 'bad' },
  wrong: { means: 'in the wrong place', tone: 'bad' },
  undeclared: { means: 'not in the file', tone: 'warn' },
};

/** Every declared or seen cable, then the manual steps; rings of bridged Macs come first. */
export function cablesText(desired: DesiredFleet, work: CableWork, page: Page): string {
  const graph = rackGraph(work.examination, work.acts, work.measured);
  const [declared, met] = countsOf(work);
  const about = `${counted(declared, 'link')}, ${met} as declared`;
  return pageText([
    headLines(desired.name, about, page),
    ...mergeFindings(work.loops).map((finding) => findingLines(finding, page)),
    [...cableRows(graph.cables, page), ...strayLines(graph, page)],
    measuredRows(graph.cables, page),
    placeLines(graph, page),
    ...actBlocks(work.acts, page),
    ...mergeFindings(work.findings).map((finding) => findingLines(finding, page)),
    verdictLines(work, page),
  ]);
}

function measuredRows(cables: readonly GraphCable[], page: Page): readonly string[] {
  const rows = cables.flatMap(({ ends, measured }) =>
    measured === undefined ? [] : hang(margin, `${pairText(ends)}: ${measuredText(measured)}`, page.columns),
  );
  return rows.length === 0 ? [] : [page.paint('strong', 'Last measured'), ...rows];
}

function cableRows(cables: readonly GraphCable[], page: Page): readonly string[] {
  const width = Math.max(0, ...cables.map(({ ends }) => pairText(ends).length));
  const speeds = cables.map(({ bitsPerSecond }) => (bitsPerSecond === undefined ? '' : speedText(bitsPerSecond)));
  const speedWidth = Math.max(0, ...speeds.map((speed) => speed.length));
  return cables.flatMap(({ ends, state }, index) => {
    const { means: words, tone } = states[state];
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

/** Everything plugged in except cables between two nodes: docks, foreign Macs, devices that do not answer. */
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

/** The known positions on the case for the receptacles named above. */
function placeLines(graph: RackGraph, page: Page): readonly string[] {
  const named = new Set(graph.cables.flatMap(({ ends }) => ends.map(linkEndText)));
  const all = graph.nodes.flatMap(({ name: node, receptacles }) =>
    receptacles.map(({ receptacle, place }) => ({ end: linkEndText({ node, receptacle }), place })),
  );
  const byPlace = groupBy(all, ({ end, place }) => (named.has(end) ? place?.words : undefined));
  return [...byPlace].flatMap(([place, same]) =>
    hang(margin, `${same.map(({ end }) => end).join(', ')}: ${place}`, page.columns).map((line) =>
      page.paint('dim', line),
    ),
  );
}

/** The prerequisites of a manual step, as one clause: `stop kimi (meshwright stop kimi)`. */
function beforeText(act: CableAct, reader: Reader): string {
  const { stopFirst, bridgesFirst, appliedFirst } = act;
  const withVerb = (words: string, typed: Command): string =>
    words === '' ? '' : `${words} (${commandText(typed, reader).replaceAll(' ', firmSpace)})`;
  const stop = stopFirst.length === 0 ? '' : `stop ${stopFirst.join(' and ')}`;
  const bridges = `${withVerb(appliedFirst, meshwright('apply'))}${bridgesFirst.slice(appliedFirst.length)}`;
  return [withVerb(stop, meshwright('stop', ...stopFirst)), bridges].filter((text) => text !== '').join(' and ');
}

/** The numbered manual steps: those that can be done now, then those with prerequisites. */
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
  return [block('Manual steps at the rack', true), block('Manual steps for later', false)];
}

/** Never breaks the command across lines, so that it can be copied. */
function verdictLines(work: CableWork, page: Page): readonly string[] {
  const { acts, examination } = work;
  const [declared, met] = countsOf(work);
  if (declared > 0 && acts.length > 0) {
    const command = commandText(meshwright('cables', '--watch'), page);
    const line = `Follow each step live: ${command}`;
    return line.length <= page.columns ? [line] : ['Follow each step live:', `${margin}${command}`];
  }
  const unknown = examination.cabling.links.filter(({ judgement }) => judgement.kind === 'unknown').length;
  if (declared === 0) return ['The file declares no links.'];
  if (unknown > 0) return [`${counted(unknown, 'link')} could not be checked.`];
  return [met === declared ? allMetText(met) : `${met} of ${counted(declared, 'link')} match the file.`];
}

const countsOf = (work: CableWork): readonly [declared: number, met: number] => [
  work.examination.cabling.links.length,
  metLinks(work).length,
];

const allMetText = (links: number): string =>
  links === 1 ? 'The only link matches the file.' : `All ${links} links match the file.`;
