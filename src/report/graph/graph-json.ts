import { linkEndText } from '../../model/node.ts';
import type { GraphPicture, PlacementLabel } from './graph-words.ts';

/** `graph --json` (`schemas/graph.schema.json`). */
interface GraphJson {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Present and true when the nodes are simulated. */
  readonly simulated?: true;
  /** Present and true when only the file was read. */
  readonly declaredOnly?: true;
  readonly nodes: readonly {
    readonly name: string;
    readonly seen: boolean;
    readonly model?: string;
    readonly receptacles: readonly {
      readonly receptacle: number;
      readonly sight: string;
      readonly place?: string;
      readonly sees?: string;
    }[];
  }[];
  readonly cables: readonly {
    readonly ends: readonly [string, string];
    readonly state: string;
    readonly declared: boolean;
    readonly seen: boolean;
    readonly bitsPerSecond?: number;
    readonly moves: readonly number[];
  }[];
  readonly strays: readonly {
    readonly at: string;
    readonly kind: string;
    readonly model: string;
    readonly hubsBetween: number;
    readonly inTheWay: boolean;
    readonly moves: readonly number[];
  }[];
  readonly moves: readonly { readonly number: number; readonly text: string; readonly first?: string }[];
  readonly placements: readonly PlacementLabel[];
}

/** What is drawn, for programs. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function graphJson({ graph, placements, isSimulated }: GraphPicture): GraphJson {
  return {
    formatVersion: 1,
    cluster: graph.cluster,
    ...(isSimulated ? { simulated: true } : {}),
    ...(graph.isDeclaredOnly ? { declaredOnly: true } : {}),
    nodes: graph.nodes.map(({ name, isSeen, model, receptacles }) => ({
      name,
      seen: isSeen,
      ...(model === undefined ? {} : { model }),
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
