import type { NodeHold } from '../model/facts/node-records.ts';
import type { NodeName } from '../model/node.ts';
import type { MacosInstall } from '../model/step.ts';
import type { ResourceKind } from './resource-kind.ts';

interface GoalFields {
  /** The nodes match the file; with `only`, limited to these kinds. The placements in `overTcp` use TCP anyway. */
  readonly converge: { readonly only?: readonly ResourceKind[]; readonly overTcp?: readonly string[] };
  /** These placements are stopped where they run, whatever their state in the file. */
  readonly stop: OfPlacements & ComingBack;
  /** These placements serve in the layout of their last run, unless `layout` names the fallback or their `own`. */
  readonly start: OfPlacements & { readonly layout?: 'fallback' | 'own' };
  /** No rank of these placements is suspended by a signal. */
  readonly continue: { readonly placements: readonly string[] };
  /** These placements accept no requests and have none in flight, but keep running. */
  readonly drain: { readonly placements: readonly string[]; readonly waitMs: number };
  /** With `install`, each of these Macs is restarted by the macOS update that it installs. */
  readonly reboot: OfNodes & ComingBack & { readonly install?: MacosInstalls };
  readonly shutdown: OfNodes & ComingBack;
  /** These Macs are on hold; without `hold`, they are released. */
  readonly hold: OfNodes & { readonly hold?: Omit<NodeHold, 'isOver'> };
  /** These macOS updates are on the disks of these Macs, which keep running. */
  readonly 'download-macos': OfNodes & { readonly install: MacosInstalls };
  /** The versions of these runtimes are on the disks of the nodes that use them, next to the versions in use. */
  readonly 'install-runtime': OfNames;
  readonly 'verify-models': OfNames;
  /**
   * These models are on the nodes whose placements read them. With `isDetached`, the run ends as soon as the jobs that
   * get the files run, and a later run publishes the models.
   */
  readonly pull: OfNames & { readonly isDetached: boolean };
  readonly 'list-folders': OfNames;
  /** The packages of these runtimes are listed, or the runtimes are built from a commit. */
  readonly 'list-packages': OfNames;
  /** Models that the file does not declare are deleted; with `names`, only these. The fleet has all models of the file. */
  readonly prune: Partial<OfNames>;
  /** These Macs are without meshwright. The fleet comes from `fleetWithout`; `placements` are the ones to stop. */
  readonly uninstall: OfNodes & {
    readonly placements: readonly string[];
    /** True if settings return to their values before the first change. */
    readonly restore: boolean;
    /** True if all models are deleted, including the ones in the file. */
    readonly models: boolean;
  };
}

/** The macOS version in words, and each node's update. */
export interface MacosInstalls {
  readonly to: string;
  readonly on: Readonly<Record<string, MacosInstall>>;
}

interface OfNodes {
  readonly nodes: readonly NodeName[];
}

interface OfNames {
  readonly names: readonly string[];
}

interface OfPlacements {
  readonly placements: readonly string[];
  /** Limits the placements to those on these nodes. */
  readonly near?: readonly NodeName[];
}

interface ComingBack {
  /** Placements to start again afterwards. One that answers is not stopped if its start would be refused. */
  readonly back?: readonly string[];
}

export type GoalKind = keyof GoalFields;

export type GoalOf<Kind extends GoalKind> = { [One in Kind]: { readonly kind: One } & GoalFields[One] }[Kind];

export type Goal = GoalOf<GoalKind>;

export const restartedNodes = (goal: Goal | undefined): readonly NodeName[] =>
  goal?.kind === 'reboot' || goal?.kind === 'shutdown' ? goal.nodes : [];

/** The placements that the goal stops and that are started again at its end. */
export const returningPlacements = (goal: Goal | undefined): readonly string[] =>
  goal !== undefined && 'back' in goal ? (goal.back ?? []) : [];

/** True if the goal removes gateways that the file does not declare; placements may still serve through them. */
export const removesGateways = (goal: Goal | undefined): boolean =>
  goal?.kind === 'converge' && goal.only?.includes('gateway') !== false;
