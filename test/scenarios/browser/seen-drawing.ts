import type { Page } from './chromium.ts';

/** A rectangle of the page, in pixels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A displayed text. */
export interface SeenText {
  readonly text: string;
  readonly area: Area;
  readonly colour: string;
  /** The background color. */
  readonly behind: string;
  /** The case or frame that must contain the text, if any. */
  readonly frame?: Area;
  /** True if nothing covers the center of the text. */
  readonly isOnTop: boolean;
}

/** A displayed receptacle. */
export interface SeenSocket {
  readonly key: string;
  readonly area: Area;
  readonly isOnTop: boolean;
}

/** A displayed line. */
export interface SeenLine {
  readonly ends: string;
  readonly state: string;
  readonly stroke: string;
  readonly dashes: string;
  readonly length: number;
  /** The uncovered part of the line, from 0 to 1. */
  readonly visible: number;
}

/** A frame on a line with its text on one line. */
export interface SeenNote {
  readonly ends: string;
  readonly text: string;
  readonly stroke: string;
}

/** A drawing as a browser displays it. */
export interface SeenDrawing {
  readonly root: string;
  readonly isBroken: boolean;
  readonly page: Area;
  readonly paper: string;
  readonly texts: readonly SeenText[];
  readonly sockets: readonly SeenSocket[];
  readonly lines: readonly SeenLine[];
  readonly notes: readonly SeenNote[];
}

/** Runs in the page: measures the displayed elements. */
const measuring = `(() => {
  const area = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const style = (element) => getComputedStyle(element);
  const all = (query) => [...document.querySelectorAll(query)];
  const topAt = (x, y) => document.elementFromPoint(x, y);
  const middle = ({ left, top, right, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  const paper = document.querySelector('.paper');
  const backOf = (text) => {
    if (text.classList.contains('mark')) return text.previousElementSibling;
    const note = text.closest('.note');
    if (note) return note.querySelector('.label');
    const box = text.closest('.node, .stray');
    return box ? box.querySelector('.case') : paper;
  };
  const texts = all('svg text').map((text) => {
    const back = backOf(text);
    const own = area(text);
    return {
      text: text.textContent,
      area: own,
      colour: style(text).fill,
      behind: style(back).fill,
      ...(back === paper || text.classList.contains('mark') ? {} : { frame: area(back) }),
      isOnTop: (text.closest('g') ?? document.documentElement).contains(topAt(...middle(own))),
    };
  });
  const sockets = all('.receptacle').map((one) => {
    const own = area(one.querySelector('.socket'));
    return { key: one.dataset.receptacle, area: own, isOnTop: one.contains(topAt(...middle(own))) };
  });
  const lines = all('.cable').map((one) => {
    const path = one.querySelector('.line');
    const length = path.getTotalLength();
    const dashes = style(path).strokeDasharray;
    // The gaps of a dashed line do not cover anything and cannot be covered.
    path.style.strokeDasharray = 'none';
    const points = Array.from({ length: 101 }, (_, index) => path.getPointAtLength((length * index) / 100));
    const seen = points.filter(({ x, y }) => one.contains(topAt(x, y)));
    path.style.strokeDasharray = '';
    return {
      ends: one.dataset.ends,
      state: one.dataset.state,
      stroke: style(path).stroke,
      dashes,
      length,
      visible: seen.length / points.length,
    };
  });
  const notes = all('.note').map((one) => ({
    ends: one.dataset.ends,
    text: [...one.querySelectorAll('text')].map((text) => text.textContent).join(' '),
    stroke: style(one.querySelector('.label')).stroke,
  }));
  return {
    root: document.documentElement.tagName,
    isBroken: document.querySelector('parsererror') !== null,
    page: area(document.documentElement),
    paper: style(paper).fill,
    texts,
    sockets,
    lines,
    notes,
  };
})()`;

/** Measures the open drawing. */
export const lookAtDrawing = async (page: Page): Promise<SeenDrawing> =>
  (await page.evaluate(measuring)) as SeenDrawing;

/** Red, green and blue of a computed color, from 0 to 255. */
export function channelsOf(colour: string): readonly [number, number, number] {
  const [, red, green, blue] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour) ?? [];
  if (blue === undefined) throw new Error(`not an opaque color: ${colour}`);
  return [Number(red), Number(green), Number(blue)];
}

/** The contrast of two colors according to WCAG 2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const luminance = (colour: string): number => {
    const [red, green, blue] = channelsOf(colour).map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [more, less] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number];
  return (more + 0.05) / (less + 0.05);
}
