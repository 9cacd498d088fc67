import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import type { CableEvent, Plug } from '../../engine/cables/cable-events.ts';
import { metLinks } from '../../engine/cables/cable-events.ts';
import type { CableAct, CableWork } from '../../engine/cables/cable-work.ts';
import type { Link, LinkEnd } from '../../model/link.ts';
import { linkEndText } from '../../model/link.ts';
import { subjectName } from '../../model/subject.ts';
import { speedText } from '../../model/text/units.ts';
import { flow, hang } from '../layout.ts';
import type { Page } from '../page.ts';
import { allMetText, beforeText } from './cables-text.ts';

/** `studio-2 receptacle 4`, as it is said at the rack. */
const endWords = ({ node, receptacle }: LinkEnd): string => `${node} receptacle ${receptacle}`;

const speedWords = (bitsPerSecond: number | undefined): string =>
  bitsPerSecond === undefined ? '' : ` at ${speedText(bitsPerSecond)}`;

const farWords = ({ far, sees }: Plug): string => (far === undefined ? sees : endWords(far));

/** Both receptacles of a cable of which nobody can say which end hands were at; else the one at which they were. */
const placeWords = ({ at, far }: { readonly at: LinkEnd; readonly far?: LinkEnd | undefined }): string =>
  far === undefined ? endWords(at) : `${endWords(at)} or ${endWords(far)}`;

/** One line for what was plugged in or pulled out, whatever the file says: for who wants to know which is which. */
export function identifyLines(plug: Plug, isPlugged: boolean, page: Page): readonly string[] {
  const speed = speedWords(plug.bitsPerSecond);
  if (plug.isEitherEnd) {
    return hang(`${placeWords(plug)}: `, isPlugged ? `just plugged${speed}` : 'unplugged', page.columns);
  }
  const seen = `sees ${escapeText(farWords(plug))}${speed}`;
  const gone = `unplugged, saw ${escapeText(farWords(plug))}`;
  return hang(`${endWords(plug.at)}: `, isPlugged ? `just plugged, ${seen}` : gone, page.columns);
}

/** What happened at the rack, as lines that stay. */
export function eventLines(event: CableEvent, page: Page): readonly string[] {
  switch (event.kind) {
    case 'met': {
      const [a, b] = event.ends;
      const text = `${linkEndText(a)} <-> ${linkEndText(b)} is as declared${speedWords(event.bitsPerSecond)}`;
      return hang('', text, page.columns).map((line) => page.paint('good', line));
    }
    case 'plugged':
      return hang('just plugged: ', `${placeWords(event)}: ${escapeText(event.advice)}`, page.columns).map((line) =>
        page.paint('bad', line),
      );
    case 'unplugged':
      return hang('unplugged: ', unpluggedText(event.plug), page.columns);
  }
}

const unpluggedText = (plug: Plug): string =>
  plug.isEitherEnd ? placeWords(plug) : `${endWords(plug.at)}, saw ${escapeText(farWords(plug))}`;

/** What the last lines of the watch are made from. */
export interface WatchBlock {
  readonly work: CableWork;
  /** Nodes that do not answer. */
  readonly lost: readonly string[];
}

/** What hands have to do next, and how far they are: paragraphs that are written anew whenever something changes. */
export function watchParagraphs({ work, lost }: WatchBlock, page: Page): readonly (readonly string[])[] {
  const paragraphs = [
    ...work.loops.map((loop) =>
      hang(
        '  STOP: ',
        `${loop.subject === undefined ? '' : subjectName(loop.subject)}: ${proseText(loop.hint, page)}`,
        page.columns,
      ).map((line) => page.paint('bad', line)),
    ),
    hang('  next: ', nextText(work, lost), page.columns).map((line) => page.paint('strong', line)),
    ...work.acts.filter(({ isFree }) => !isFree).map((act) => hang('  wait: ', waitText(act, page), page.columns)),
    countLines(work, page),
    ...(lost.length === 0 ? [] : [hang('  not seen: ', lost.join(', '), page.columns)]),
  ];
  return paragraphs;
}

const waitText = (act: CableAct, page: Page): string => {
  const before = beforeText(act, page);
  return before === '' ? `${act.text}, when the act before it is done` : `first ${before}; then ${act.text}`;
};

/** While bridged Macs form a ring, nothing else is asked of anybody. */
function nextText(work: CableWork, lost: readonly string[]): string {
  const next = work.acts.find(({ isFree }) => isFree);
  if (work.loops.length > 0) return 'nothing else before that cable is out';
  if (next !== undefined) return next.text;
  if (work.acts.length > 0) return 'no cable; see what has to come first';
  if (lost.length > 0) return `nothing can be told before ${lost.join(' and ')} can be seen`;
  return work.findings.length > 0 ? 'no cable; what is left is told above' : 'nothing';
}

/** `done: 1-2  1-3   missing: 2-4`: the declared links by their nodes. */
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

/** Names without what all of them begin with, where numbers are left: `1` for `studio-1`. */
function shortNames(names: readonly string[]): (name: string) => string {
  const stems = new Set(names.map((name) => name.replace(/[0-9]{1,9}$/, '')));
  const isNumbered = names.length > 1 && stems.size === 1 && names.every((name) => /[0-9]$/.test(name));
  const [stem = ''] = stems;
  return (name) => (isNumbered && name.startsWith(stem) ? name.slice(stem.length) : name);
}

/** The last line: there is nothing left to do. */
export const doneLine = (links: number, page: Page): string =>
  page.paint('good', links === 0 ? 'The file declares no link.' : allMetText(links));
