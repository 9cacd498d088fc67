import type { Severity } from '../../diagnostics/code-entry.ts';
import type { DiagnosticCode } from '../../diagnostics/codes.ts';
import type { DesiredFleet, DesiredModel, DesiredNode, DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
import type { ForeignDaemon } from '../../model/facts/strange-records.ts';
import type { Known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { SeenNames } from './seen-names.ts';

/** What checks ask of a Mac. Facts are defined above the drivers, so their values are handed in. */
export interface CheckedMac {
  readonly trees: Known<readonly KeptTree[]>;
  readonly foreignDaemons: Known<readonly ForeignDaemon[]>;
  readonly firewall: Known<'off' | 'on' | 'blocks-all'>;
}

/** One node of a placement that is checked. */
export interface CheckedNode {
  readonly node: NodeName;
  readonly desired?: DesiredNode;
  /** Absent for a node that was not observed: then only the file can be checked. */
  readonly mac?: CheckedMac | undefined;
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
