import { mostListBytes } from '../../desired/settle/python-packages.ts';
import type { DesiredFleet, DesiredRuntime, ListedPackage } from '../../model/desired.ts';
import { digestOf } from '../../model/digest.ts';
import { known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { TreeId } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { buildStep } from '../build-step.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { buildDeadlineMs, digestIn, supplySteps, uvMirror } from './supply-runtime.ts';
import { jobAct } from './tree-steps.ts';

/** The runtimes whose packages are listed, by name. */
export interface PackagesWish {
  readonly names: readonly string[];
}

/** A runtime whose list of packages is missing, and everything that the list depends on. */
export interface UnlistedRuntime {
  readonly runtime: DesiredRuntime;
  readonly lists: ListedPackage;
  /** The place of the work on a node. Nothing is published from it. */
  readonly tree: TreeId;
}

/** The runtimes whose lists a node can make: uv's archive is known, the list is not. */
export const unlistedRuntimes = ({ runtimes }: Pick<DesiredFleet, 'runtimes'>): readonly UnlistedRuntime[] =>
  runtimes.flatMap((runtime) => {
    const { name, sha256, unread } = runtime;
    const [lists] = runtime.extras.flatMap((extra) => extra.lists ?? []);
    if (unread?.kind !== 'to-list' || lists === undefined || sha256 === undefined) return [];
    const digest = digestOf({ list: { ...lists }, archive: sha256 });
    return [{ runtime, lists, tree: { kind: 'runtime', name, digest } }];
  });

const addressOf = ({ runtime: { name } }: UnlistedRuntime) => addressed({ kind: 'runtime', name, part: 'packages' });

/**
 * A list is made on one node: the first one of the first placement that uses the runtime, unless `maker` names another.
 */
const makerOf = ({ placements }: DesiredFleet, { runtime }: UnlistedRuntime): NodeName | undefined =>
  placements.find((one) => one.runtime === runtime.name)?.nodes[0];

/** The lists to make on a node. */
export const listProperties = (
  fleet: DesiredFleet,
  { desired: { name: node } }: ObservedTarget,
  isMaker: (one: UnlistedRuntime) => boolean = (one) => makerOf(fleet, one) === node,
): readonly Property[] =>
  unlistedRuntimes(fleet)
    .filter(isMaker)
    .map((one): Property => {
      const { name, version } = one.lists;
      return {
        node,
        ...addressOf(one),
        kind: 'add',
        desired: 'listed',
        observed: known('absent'),
        from: 'not listed',
        to: `the packages of ${name} ${version} listed`,
        reason: `runtimes.${one.runtime.name}.version`,
      };
    });

/** The steps that make a list in a staging folder, from which this computer reads it. */
export function listSteps(fleet: DesiredFleet, target: ObservedTarget, property: Property): readonly Step[] {
  return unlistedRuntimes(fleet).flatMap((one) => {
    if (addressOf(one).address !== property.address) return [];
    const { runtime, lists, tree } = one;
    const supply = supplySteps({ target, property, tree }, { ...runtime, extras: [] }, fleet);
    const args = {
      tree,
      archive: supply.format,
      sha256: digestIn(runtime),
      python: lists.python,
      account: fleet.system.accounts.ranks ?? '',
      wanted: `${lists.name}==${lists.version}`,
      mostBytes: mostListBytes,
      ...uvMirror(fleet),
    };
    const list = buildStep({
      name: `${property.address}/list`,
      class: 'job',
      act: jobAct(tree, { name: 'list-packages', args }),
      towards: [property],
      needs: supply.last,
      deadlineMs: buildDeadlineMs,
    });
    return [...supply.steps, list];
  });
}

/** Makes the lists of these runtimes on the targets. */
export const listPackages = ({ names }: PackagesWish): Resource => ({
  kind: 'runtime',
  after: ['identity', 'sudo', 'accounts'],
  ...perTarget(
    (fleet, target) => listProperties(fleet, target, ({ runtime }) => names.includes(runtime.name)),
    (fleet, target, made) => made.flatMap((property) => listSteps(fleet, target, property)),
  ),
});
