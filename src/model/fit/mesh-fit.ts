import type { Link } from '../link.ts';

/** So many Macs of one model. */
export interface MacCount {
  /** Its identifier, as `hw.model` prints it. */
  readonly model: string;
  readonly count: number;
}

/** What is known of the Macs of one model that were asked for. */
export interface FitModel extends MacCount {
  readonly name: string;
  readonly thunderbolt: 4 | 5;
  /** How many receptacles each has; macOS numbers them from 1. */
  readonly receptacles: number;
  /** Of these the ones that are better left free. */
  readonly doubtful: readonly number[];
}

/** Cables between some of the Macs, in one shape. */
export interface FitShape {
  /** Which Macs take part, by model. */
  readonly macs: readonly MacCount[];
  /** How many Macs that are, at least two. */
  readonly size: number;
  /** How many receptacles each of them needs. */
  readonly receptaclesEach: number;
  /** Every cable; the names of nodes are made up, one for each Mac that was asked for. */
  readonly links: readonly Link['ends'][];
  /** The models with a cable in a receptacle that is better left free. */
  readonly doubtfulModels: readonly string[];
}

/** What Macs of these models can be cabled to. */
export interface MeshFit {
  /** In the order in which they were asked for, each model once. */
  readonly models: readonly FitModel[];
  /** How many Macs were asked for. */
  readonly asked: number;
  /** The largest full mesh; absent when not even two of them can have RDMA. */
  readonly mesh?: FitShape;
  /** How many Macs the largest full mesh has that leaves doubtful receptacles free; 0 when there is none. */
  readonly carefulSize: number;
  /** A ring of all that can have RDMA; absent when there are fewer than three. */
  readonly ring?: FitShape;
}

/** Whether all the Macs that were asked for can be fully meshed. */
export const isFullMesh = ({ asked, mesh }: MeshFit): boolean => mesh?.size === asked;
