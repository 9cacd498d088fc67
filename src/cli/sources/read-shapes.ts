import { type NodeSelector, selectNodes } from '../../desired/select.ts';
import type { ShapeFacts } from '../../desired/settle/settle-shapes.ts';
import type { DesiredFleet, DesiredModel, DesiredNode } from '../../model/desired.ts';
import type { ShapeFact } from '../../model/fit/model-shape.ts';
import { isReader } from '../../rack/artifacts/model-resource.ts';
import type { Ways } from '../cluster/ways.ts';
import { showProgress } from '../terminal/progress.ts';
import { useLimits } from '../verb/use-limits.ts';
import type { Run } from '../verb/verb.ts';
import { folderSource, urlSource } from './byte-source.ts';
import { readNodeShape } from './node-source.ts';
import { readShape } from './read-shape.ts';

/** As many nodes are tried for the files of a model that lie there. */
const mostTries = 2;

/**
 * The shapes of all models that are settled and have none yet, by name: from a folder of this computer, from a server,
 * or from the first nodes that read it in the placement that has it. A rehearsal reaches no server, and no run a node
 * that its options leave out.
 */
export async function readShapes(
  run: Run,
  fleet: Pick<DesiredFleet, 'nodes' | 'models' | 'placements' | 'runtimes'>,
  openWays: () => Ways,
): Promise<ShapeFacts> {
  const meant = { names: run.options.nodes ?? [], labels: run.options.label ?? [] };
  const onNodes = async (model: DesiredModel): Promise<ShapeFact> => {
    const found = readersOf(fleet, model, meant).slice(0, mostTries);
    const ways = found.length === 0 ? [] : await openWays().toAll(found);
    return readNodeShape(ways, model, useLimits(run));
  };
  const wanted = fleet.models.filter(({ shape, digest }) => shape === undefined && digest !== undefined);
  // Without a prototype: `constructor` is a good name for a model.
  const read: Record<string, ShapeFact> = Object.create(null);
  if (wanted.length === 0) return read;
  const progress = showProgress(
    run.console,
    'reading headers',
    wanted.map(({ name }) => name),
  );
  try {
    await Promise.all(
      wanted.map(async (model) => {
        read[model.name] = await (model.source.kind === 'node' ? onNodes(model) : shapeOf(run, model));
        progress.done(model.name);
      }),
    );
    return read;
  } finally {
    progress.stop();
  }
}

/** The nodes that read the files of a model, those of them that are meant, in the order of the first placement that has it. */
export function readersOf(
  { nodes, placements, runtimes }: Pick<DesiredFleet, 'nodes' | 'placements' | 'runtimes'>,
  model: Pick<DesiredModel, 'name'>,
  meant: NodeSelector,
): readonly DesiredNode[] {
  const placement = placements.find((one) => one.model === model.name);
  if (placement === undefined) return [];
  const chosen = selectNodes({ nodes }, meant).nodes;
  const names = placement.nodes.filter((name) => isReader({ runtimes }, placement, name));
  return names.flatMap((name) => chosen.filter((node) => node.name === name));
}

function shapeOf(run: Run, { source, files }: DesiredModel): Promise<ShapeFact> | ShapeFact {
  const paths = files.map(({ path }) => path);
  switch (source.kind) {
    case 'node':
      return { kind: 'unknown', why: 'its files lie on the nodes' };
    case 'controller':
      return readShape(folderSource(source.folder), paths);
    case 'url':
      return run.options.sim
        ? { kind: 'unknown', why: 'a rehearsal reads nothing from its server' }
        : readShape(urlSource(source.base, run.signal), paths);
  }
}
