import { columnsOf } from '../../diagnostics/cells.ts';
import { fitLines } from '../layout.ts';
import { xmlElement, xmlText } from '../xml-text.ts';
import { graphBody } from './graph-body.ts';
import { graphFoot } from './graph-foot.ts';
import { graphLayout } from './graph-layout.ts';
import { graphColors, graphStyle } from './graph-svg-style.ts';
import { cableTitle, type GraphPicture, graphNotes, graphSummary } from './graph-words.ts';

const margin = 28;
const narrowest = 720;
const headingColumn = 14;
const headingLine = 26;

const simulatedWidth = 96;

/** The name of the rack and what is drawn, and on the right that it is simulated, if it is. */
function head(picture: GraphPicture, width: number): { readonly text: string; readonly height: number } {
  const { graph, isSimulated } = picture;
  const room = width - 2 * margin - (isSimulated ? simulatedWidth : 0);
  const title = fitLines(graph.cluster, Math.floor(room / headingColumn));
  const top = margin + 12;
  const below = top + title.length * headingLine - 4;
  const summary = fitLines(graphSummary(picture), Math.floor(room / 8));
  const parts = [
    ...title.map((line, index) =>
      xmlElement(
        'text',
        { class: 'heading', x: margin, y: top + index * headingLine, fill: graphColors.ink },
        xmlText(line),
      ),
    ),
    ...summary.map((line, index) =>
      xmlElement('text', { class: 'foot', x: margin, y: below + index * 17, fill: graphColors.dim }, xmlText(line)),
    ),
    ...(isSimulated
      ? [
          xmlElement(
            'text',
            { class: 'foot number', x: width - margin, y: top, 'text-anchor': 'end', fill: graphColors.extra },
            'simulated',
          ),
        ]
      : []),
  ];
  return { text: parts.join('\n'), height: below + summary.length * 17 + 12 };
}

/** The drawing in words, for whoever cannot see it. */
function description(picture: GraphPicture): string {
  const { graph } = picture;
  const cables = graph.cables.map((cable) => cableTitle(cable, graph));
  return [...picture.warnings, graphSummary(picture), ...cables, ...graphNotes(picture)].join('. ');
}

/**
 * The rack as one SVG document: Macs with their receptacles, cables as declared and as seen, what hands have to do
 * written on the cables and listed below, a legend. It needs no script, font or file beside it, follows the light or
 * dark page of whoever looks at it, and is the same bytes for the same picture.
 */
export function graphSvg(picture: GraphPicture): string {
  const layout = graphLayout(picture);
  const { bounds } = layout;
  const widest = Math.max(narrowest, bounds.width + 2 * margin, columnsOf(picture.graph.cluster) > 60 ? 900 : 0);
  const width = Math.ceil(widest);
  const top = head(picture, width);
  const foot = graphFoot(picture, { x: margin, y: top.height + bounds.height + 34, width: width - 2 * margin });
  const height = Math.ceil(foot.bottom + margin - 10);
  const shift = { x: (width - bounds.width) / 2 - bounds.x, y: top.height - bounds.y };
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: 'mw-rack',
    role: 'img',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  };
  const mark = picture.isSimulated ? ' (simulated)' : '';
  const parts = [
    xmlElement('title', {}, xmlText(`${picture.graph.cluster}${mark}`)),
    xmlElement('desc', {}, xmlText(description(picture))),
    xmlElement('style', {}, `\n${graphStyle}\n`),
    xmlElement('rect', { class: 'paper', width, height, fill: graphColors.paper }),
    top.text,
    graphBody(picture, layout, shift),
    foot.text,
  ];
  return `${xmlElement('svg', root, `\n${parts.join('\n')}\n`)}\n`;
}
