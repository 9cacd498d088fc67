import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/codes.ts';
import type { DesiredFleet, DesiredModel, DesiredNode, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/observation.ts';
import type { NodeName } from '../../model/node.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { SeenNames } from './seen-names.ts';

/** One node of a placement that is checked. */
export interface CheckedNode {
  readonly node: NodeName;
  readonly desired?: DesiredNode;
  /** Absent where nobody looked: then only what the file says can be judged. */
  readonly facts?: Facts;
}

/** A placement before anything of it is started, with all that speaks for or against it. */
export interface PlacementCheck<R extends DesiredRuntime = DesiredRuntime> {
  readonly placement: DesiredPlacement;
  readonly runtime: R;
  /** With its shape, where that is known. */
  readonly model: DesiredModel;
  /** In rank order. */
  readonly nodes: readonly CheckedNode[];
  readonly fleet: DesiredFleet;
  /** What was seen of its nodes; absent where nobody looked. */
  readonly names?: SeenNames;
}

/** What speaks against a placement: an error keeps it from being started, the rest is told. */
export interface PlacementFinding {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** Full sentences. */
  readonly detail: string;
  /** What to do; that of the code when absent. */
  readonly hint?: Prose;
}
