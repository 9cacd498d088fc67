import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { diagnosticJson } from '../diagnostics/json.ts';
import type { CableWork } from '../engine/cables/cable-work.ts';
import { rackGraph } from '../engine/rack-graph.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { CablesDocument } from '../model/documents.generated.ts';
import { given } from '../model/given.ts';
import { linkEndText } from '../model/node.ts';

/** What `cables --json` is made from. */
interface CablesJsonInput {
  readonly desired: DesiredFleet;
  readonly work: CableWork;
  /** Rings of bridged Macs first, then the rest. */
  readonly diagnostics: readonly Diagnostic[];
  readonly isSimulated: boolean;
}

/** The machine form of `cables`. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function cablesJson({ desired, work, diagnostics, isSimulated }: CablesJsonInput): CablesDocument {
  const { cables, nodes } = rackGraph(work.examination, work.acts);
  return {
    formatVersion: 1,
    cluster: desired.name,
    ...(isSimulated ? { simulated: true } : {}),
    cables: cables.map(({ ends, isDeclared, isSeen, state, bitsPerSecond, moves }) => ({
      ends: [linkEndText(ends[0]), linkEndText(ends[1])],
      declared: isDeclared,
      seen: isSeen,
      // Only a drawing of the file alone has no more to say than that it is declared.
      state: state === 'declared' ? 'unknown' : state,
      ...given({ bitsPerSecond }),
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
