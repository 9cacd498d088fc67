import { escapeText } from '../../diagnostics/escape.ts';
import type { GraphCable, GraphNode, GraphStray } from '../../engine/rack-graph.ts';
import type { LinkEnd } from '../../model/node.ts';
import { fitLines } from '../page.ts';
import {
  cableLabels,
  cableStates,
  type GraphPicture,
  graphColors,
  graphNotes,
  graphSummary,
  moveLabels,
  moveLines,
  nodeLines,
  socketSights,
  strayLines,
  strayTone,
  xmlText,
} from './graph-words.ts';

/** A DOT string of one or more lines. Backslashes are doubled because DOT has its own escapes (`\N`, `\l`). */
const quoted = (lines: readonly string[]): string => `"${lines.map(inQuotes).join('\\n')}"`;

const inQuotes = (line: string): string => escapeText(line).replaceAll('\\', '\\\\').replaceAll('"', '\\"');

const attributes = (pairs: Readonly<Record<string, string>>): string =>
  `[${Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')}]`;

const cell = (content: string, more = ''): string => `<td${more}>${content}</td>`;

/** A row of sockets, each with the same sign as in the SVG and as a DOT port named after its number. */
function socketRow({ receptacles }: GraphNode): string {
  const cells = receptacles.map(({ receptacle, sight }) => {
    const sign = socketSights[sight].sign;
    return cell(`${receptacle}${sign === '' ? '' : ` ${xmlText(sign)}`}`, ` port="r${receptacle}" border="1"`);
  });
  return cells.length === 0 ? '' : `<tr>${cells.join('')}</tr>`;
}

function nodeText(node: GraphNode, picture: GraphPicture): string {
  const span = ` colspan="${Math.max(1, node.receptacles.length)}"`;
  const lines = nodeLines(node, picture).map((line) => `<tr>${cell(xmlText(line), span)}</tr>`);
  const name = `<tr>${cell(`<b>${xmlText(node.name)}</b>`, span)}</tr>`;
  const table = `<table border="1" style="rounded" cellborder="0" cellspacing="4">${name}${lines.join('')}${socketRow(node)}</table>`;
  return `  ${quoted([node.name])} ${attributes({ shape: 'plain', label: `<${table}>` })};`;
}

const endText = ({ node, receptacle }: LinkEnd): string => `${quoted([node])}:r${receptacle}`;

const labelOf = (texts: readonly string[], colour: string): Readonly<Record<string, string>> =>
  texts.length === 0 ? {} : { label: quoted(texts.flatMap((text) => fitLines(text, 30))), fontcolor: colour };

function cableText(cable: GraphCable, { graph }: GraphPicture): string {
  const { tone, stroke } = cableStates[cable.state];
  const colour = quoted([graphColors[tone]]);
  const style = { color: colour, style: stroke, ...labelOf(cableLabels(cable, graph), colour) };
  return `  ${cable.ends.map(endText).join(' -- ')} ${attributes(style)};`;
}

function strayText(stray: GraphStray, index: number, { graph }: GraphPicture): readonly string[] {
  const name = quoted([`no node ${index + 1}`]);
  const colour = quoted([graphColors[strayTone(stray)]]);
  return [
    `  ${name} ${attributes({ shape: 'box', style: '"rounded,dashed"', color: colour, label: quoted(strayLines(stray)) })};`,
    `  ${endText(stray.at)} -- ${name} ${attributes({ color: colour, ...labelOf(moveLabels(graph, stray.moves), colour) })};`,
  ];
}

/** Name, summary, manual steps and other devices, left-aligned below the drawing. */
function caption(picture: GraphPicture): string {
  const { graph, isSimulated } = picture;
  const title = `${graph.cluster}${isSimulated ? ' (simulated)' : ''}: ${graphSummary(picture)}`;
  const lines = [title, ...picture.warnings, ...moveLines(graph), ...graphNotes(picture)];
  return `"${lines.map((line) => `${inQuotes(line)}\\l`).join('')}"`;
}

/**
 * The rack as a Graphviz file with the same content as the SVG: receptacles are ports, and cables are edges with their
 * state and manual steps. Names are quoted and text is escaped; the output is deterministic.
 */
export function graphDot(picture: GraphPicture): string {
  const { graph } = picture;
  const lines = [
    `graph ${quoted([graph.cluster])} {`,
    `  graph ${attributes({ label: caption(picture), labeljust: 'l', fontname: '"Helvetica"', layout: 'dot', ranksep: '1.4', nodesep: '0.8' })};`,
    '  node [fontname="Helvetica", fontsize=11];',
    '  edge [fontname="Helvetica", fontsize=10, penwidth=2];',
    ...graph.nodes.map((node) => nodeText(node, picture)),
    ...graph.cables.map((cable) => cableText(cable, picture)),
    ...graph.strays.flatMap((stray, index) => strayText(stray, index, picture)),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}
