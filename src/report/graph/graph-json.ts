import type { GraphDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { linkEndText } from '../../model/node.ts';
import type { GraphPicture } from './graph-words.ts';

/** What is drawn, for programs. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function graphJson({ graph, placements, isSimulated }: GraphPicture): Omit<GraphDocument, 'diagnostics'> {
  return {
    formatVersion: 1,
    cluster: graph.cluster,
    ...(isSimulated ? { simulated: true } : {}),
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
