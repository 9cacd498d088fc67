import { extname, resolve } from 'node:path';
import { readMeasuredCables } from '../../apply/journal/measured-cables.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { cableWork } from '../../engine/cables/cable-work.ts';
import { viewOf } from '../../engine/plan/view.ts';
import { declaredGraph, rackGraph } from '../../engine/rack-graph.ts';
import type { GraphDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { linkEndText, type NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { gatherAlike } from '../../report/findings.ts';
import { graphDot } from '../../report/graph/graph-dot.ts';
import { graphSvg } from '../../report/graph/graph-svg.ts';
import { alarmText, type GraphPicture, graphSummary, moveLines } from '../../report/graph/graph-words.ts';
import { type OpenedCluster, openCluster } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes, type ExitCode, exitCode, verdictOf } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { shownPath } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { diagnosticsJson } from '../terminal/console.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

/** `graph`: draws the rack with declared and observed cables. */
export const graph: VerbBody = async (run) => {
  const { format, path } = targetOf(run);
  const cluster = openCluster(run);
  const seen = run.own['declared'] === true ? declaredOnly(cluster) : await observeRack(run, cluster);
  const { picture, failures, warnings, code } = seen;
  const drawing = writers[format](picture);
  if (path !== undefined) replaceFile(path, drawing);
  return {
    exit: code,
    document: { ...graphJson(picture), diagnostics: diagnosticsJson(run.console, [...warnings, ...failures]) },
    text: path === undefined ? drawing : summaryText(shownPath(run.folder, path), picture),
    findings: gatherAlike(failures),
  };
};

const summaryText = (file: string, picture: GraphPicture): string =>
  [`Drawn in ${file}: ${graphSummary(picture)}.`, ...moveLines(picture.graph).map((line) => `  ${line}`), ''].join(
    '\n',
  );

type Format = 'svg' | 'dot';

const writers: Readonly<Record<Format, (picture: GraphPicture) => string>> = { svg: graphSvg, dot: graphDot };

interface Seen {
  readonly picture: GraphPicture;
  readonly failures: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly code: ExitCode;
}

const formats: readonly Format[] = ['svg', 'dot'];

/**
 * The output file, absent for stdout, and its format: from `--format`, otherwise from the file name, otherwise SVG.
 * @throws FleetError `cli/usage`, before contacting any node
 */
function targetOf(run: Run): { readonly format: Format; readonly path?: string } {
  const { console, folder, options } = run;
  const asked = textOption(run, 'format');
  const out = textOption(run, 'out');
  const format = asked === undefined ? formatOfFile(out) : formats.find((one) => one === asked);
  if (format === undefined) {
    throw usageError(`Unknown format ${JSON.stringify(asked)}.`, `Formats: ${formats.join(', ')}`);
  }
  if (out !== undefined) return { format, path: resolve(folder, out) };
  if (options.json && asked !== undefined) {
    throw usageError('--format does not apply to --json.', 'Leave out --format, or save the drawing: --out rack.svg');
  }
  if (!options.json && format === 'svg' && console.isOutTty) {
    throw usageError(
      'A terminal cannot show SVG.',
      prose`Save it in a file: ${meshwright('graph', '--out', 'rack.svg')}\nOr print text for Graphviz: ${meshwright('graph', '--format', 'dot')}`,
    );
  }
  return { format };
}

const formatsByExtension: Readonly<Record<string, Format>> = { '.svg': 'svg', '.dot': 'dot', '.gv': 'dot' };

function formatOfFile(out: string | undefined): Format {
  const format = out === undefined ? 'svg' : formatsByExtension[extname(out).toLowerCase()];
  if (format !== undefined) return format;
  throw usageError(
    `The format is not clear from the name ${JSON.stringify(out)}.`,
    'Use a name that ends in .svg or .dot, or add --format.',
  );
}

function declaredOnly({ fleet, warnings }: OpenedCluster): Seen {
  const placements = fleet.placements.map(({ name, nodes }) => ({ name, nodes }));
  const picture = { graph: declaredGraph(fleet), placements, isSimulated: false, warnings: [] };
  return { picture, failures: [], warnings, code: exitCode.done };
}

async function observeRack(run: Run, cluster: OpenedCluster): Promise<Seen> {
  const { nodes } = cluster.fleet;
  const ways = openTargets(run, cluster);
  const observation = await observeNodes(run, nodes, ways, shownOnly(run));
  const targets: readonly NodeName[] = nodes.map(({ name }) => name);
  const view = viewOf({ desired: lockedFleet(run, cluster), observation, targets });
  const placements = surveyPlacements(view).map(({ name, nodes: members, state }) => ({ name, nodes: members, state }));
  const measured = readMeasuredCables(journalsOf(run, cluster.fleet.name));
  const work = cableWork(cluster.fleet, observation, measured);
  // A ring of bridged Macs brings down the network, so this warning comes first.
  const found = [...work.loops, ...targets.flatMap((name) => observation.failures[name] ?? [])];
  return {
    picture: {
      graph: rackGraph(work.examination, work.acts, measured),
      placements,
      isSimulated: run.console.isSimulated,
      warnings: work.loops.map((loop) => alarmText(loop, run.console)),
    },
    failures: found,
    warnings: cluster.warnings,
    code: codeForNodes(targets.map((name) => verdictOf(observation.failures[name] ?? []))),
  };
}

/** The picture as JSON. Text from nodes is unescaped: print the document with `jsonText`. */
export function graphJson({ graph, placements, isSimulated }: GraphPicture): Omit<GraphDocument, 'diagnostics'> {
  return {
    ...documentHead({ isSimulated }, { cluster: graph.cluster }),
    ...(graph.isDeclaredOnly ? { declaredOnly: true } : {}),
    nodes: graph.nodes.map(({ name, isSeen, model, receptacles }) => ({
      name,
      seen: isSeen,
      ...given({ model }),
      receptacles: receptacles.map(({ place, ...rest }) => ({
        ...rest,
        ...(place === undefined ? {} : { place: place.words }),
      })),
    })),
    cables: graph.cables.map(({ ends, isDeclared, isSeen, ...rest }) => ({
      ...rest,
      ends: [linkEndText(ends[0]), linkEndText(ends[1])],
      declared: isDeclared,
      seen: isSeen,
    })),
    strays: graph.strays.map(({ at, isInTheWay, ...rest }) => ({ ...rest, at: linkEndText(at), inTheWay: isInTheWay })),
    moves: graph.moves,
    placements,
  };
}
