import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type DiagnosticJson, diagnosticJson } from '../diagnostics/json.ts';
import type { CableWork } from '../engine/cables/cable-work.ts';
import { rackGraph } from '../engine/graph/rack-graph.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { linkEndText } from '../model/node.ts';

/** One cable, declared or seen, as programs read it. */
interface CableJson {
  readonly ends: readonly [string, string];
  readonly declared: boolean;
  readonly seen: boolean;
  readonly state: string;
  readonly bitsPerSecond?: number;
  /** The numbers of the moves that touch it. */
  readonly moves: readonly number[];
}

/** One receptacle as programs read it. */
interface CableReceptacleJson {
  readonly receptacle: number;
  /** Where it is on the case; absent when nobody knows. */
  readonly place?: string;
  readonly sight: string;
  readonly sees: string;
}

/** One act of hands as programs read it. */
interface MoveJson {
  readonly number: number;
  readonly kind: string;
  readonly text: string;
  /** Placements that have to be stopped first. */
  readonly stopFirst: readonly string[];
  /** What has to be done about bridges first. */
  readonly bridgesFirst?: string;
  /** Whether hands may do it now. */
  readonly free: boolean;
}

/** `cables --json` (`schemas/cables.schema.json`). */
interface CablesJson {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Present and true when the nodes are simulated. */
  readonly simulated?: true;
  readonly cables: readonly CableJson[];
  /** The receptacles of every node; null for one that was not seen. */
  readonly nodes: Readonly<Record<string, readonly CableReceptacleJson[] | null>>;
  readonly moves: readonly MoveJson[];
  readonly diagnostics: readonly DiagnosticJson[];
}

/** What `cables --json` is made from. */
interface CablesJsonInput {
  readonly desired: DesiredFleet;
  readonly work: CableWork;
  /** Rings of bridged Macs first, then the rest. */
  readonly diagnostics: readonly Diagnostic[];
  readonly isSimulated: boolean;
}

/** The machine form of `cables`. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function cablesJson({ desired, work, diagnostics, isSimulated }: CablesJsonInput): CablesJson {
  const { cables, nodes } = rackGraph(work.examination, work.acts);
  return {
    formatVersion: 1,
    cluster: desired.name,
    ...(isSimulated ? { simulated: true } : {}),
    cables: cables.map(({ ends, isDeclared, isSeen, state, bitsPerSecond, moves }) => ({
      ends: [linkEndText(ends[0]), linkEndText(ends[1])],
      declared: isDeclared,
      seen: isSeen,
      state,
      ...(bitsPerSecond === undefined ? {} : { bitsPerSecond }),
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
    diagnostics: diagnostics.map((one) => diagnosticJson(one, { isSimulated })),
  };
}
