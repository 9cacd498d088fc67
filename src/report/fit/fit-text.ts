import { type FitModel, type FitShape, isFullMesh, type MeshFit } from '../../model/fit/mesh-fit.ts';
import { linkEndText } from '../../model/link.ts';
import { counted } from '../counted.ts';
import { fitLines, padEnd } from '../layout.ts';
import { type Page, type Paint, pageColumns, plainPaint } from '../page.ts';

/** What `fit --mesh` shows, and on what. */
export interface FitTextInput {
  readonly fit: MeshFit;
  readonly columns: number;
  readonly unicode: boolean;
  readonly paint?: Paint;
}

/** Whether the Macs can be fully meshed, which of them otherwise, and the cables as `cluster.yaml` has them. */
export function fitText({ fit, columns, unicode, paint = plainPaint }: FitTextInput): string {
  const page: Page = { columns: pageColumns(columns), unicode, paint, isSimulated: false };
  const fits = isFullMesh(fit);
  const blocks = [
    answerLines(fit, page),
    modelLines(fit.models, page),
    ...(fit.mesh === undefined ? [] : [linkLines('Cables of the full mesh', fit.mesh, page)]),
    ...(fits || fit.ring === undefined ? [] : [linkLines('Cables of the ring', fit.ring, page)]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** `10 cables, 4 receptacles in each Mac`. */
const needText = ({ links, receptaclesEach }: FitShape): string =>
  `${counted(links.length, 'cable')}, ${counted(receptaclesEach, 'receptacle')} in each Mac`;

const macsText = ({ macs }: FitShape): string => macs.map(({ model, count }) => `${count} x ${model}`).join(', ');

function answerLines(fit: MeshFit, page: Page): readonly string[] {
  const { asked, mesh, ring } = fit;
  const fitted = (tone: 'good' | 'bad', text: string): readonly string[] =>
    fitLines(text, page.columns).map((line) => page.paint(tone, line));
  if (mesh !== undefined && isFullMesh(fit)) {
    return fitted('good', `A full mesh of all ${asked} Macs fits: ${needText(mesh)}.`);
  }
  const largest =
    mesh === undefined
      ? 'No two of them can have RDMA.'
      : `The largest full mesh has ${mesh.size}: ${macsText(mesh)}; ${needText(mesh)}.`;
  const round = ring === undefined ? '' : `A ring of ${ringSizeText(ring, asked)} fits: ${needText(ring)}.`;
  const carries = ring === undefined ? '' : 'A ring carries pipeline sharding; tensor sharding needs a full mesh.';
  return [
    ...fitted('bad', `A full mesh of all ${asked} Macs does not fit: ${reasonText(fit)}.`),
    ...[largest, round, carries].filter((text) => text !== '').flatMap((text) => fitLines(text, page.columns)),
  ];
}

const reasonText = ({ asked, models }: MeshFit): string =>
  models.some(({ thunderbolt }) => thunderbolt === 4)
    ? 'Thunderbolt 4 carries no RDMA'
    : `it needs ${asked - 1} receptacles in each`;

const ringSizeText = (ring: FitShape, asked: number): string =>
  ring.size === asked ? `all ${asked}` : `${ring.size} (${macsText(ring)})`;

/** How many Macs a full mesh can have in which these take part. */
function reachText({ thunderbolt, receptacles, doubtful }: FitModel): string {
  if (thunderbolt === 4) return 'never: Thunderbolt 4';
  const careful = receptacles - doubtful.length + 1;
  return doubtful.length === 0
    ? `${careful}`
    : `${careful}, with receptacle ${doubtful.join(', ')}: ${receptacles + 1}`;
}

const titles = ['Macs', 'model', 'what it is', 'receptacles', 'full mesh up to'] as const;
const margin = '  ';

/** One line per model, or where the page is too narrow for a table a few. */
function modelLines(models: readonly FitModel[], page: Page): readonly string[] {
  const rows = models.map((one) => [`${one.count}`, one.model, one.name, `${one.receptacles}`, reachText(one)]);
  const widths = titles.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const lineOf = (cells: readonly string[]): string =>
    `${margin}${cells.map((cell, index) => padEnd(cell, widths[index] ?? 0)).join(margin)}`.trimEnd();
  const lines = [titles, ...rows].map(lineOf);
  if (lines.every((line) => line.length <= page.columns)) {
    return lines.map((line, index) => (index === 0 ? page.paint('strong', line) : line));
  }
  const texts = rows.map((row) => titles.map((title, index) => `${title} ${row[index] ?? ''}`).join(', '));
  return texts.flatMap((text) => fitLines(text, page.columns));
}

/** Never broken, whatever the page: these lines are for copying. */
function linkLines(title: string, { links }: FitShape, page: Page): readonly string[] {
  const head = `${title}; put the names of your nodes in:`;
  return [
    ...fitLines(head, page.columns).map((line) => page.paint('strong', line)),
    '',
    'thunderbolt:',
    '  links:',
    ...links.map(([a, b]) => `    - ${linkEndText(a)} <-> ${linkEndText(b)}`),
  ];
}
