import { packageText, sourceRelease } from '../../desired/package-source.ts';
import { mostListBytes, mostWheelBytes } from '../../desired/settle/python-packages.ts';
import type { DesiredFleet, DesiredRuntime, ListedPackage } from '../../model/desired.ts';
import { digestOf } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { TreeId } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import { addressed } from '../../model/subject.ts';
import { buildStep } from '../build-step.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { buildDeadlineMs, digestIn, supplySteps, uvMirror } from './supply-runtime.ts';
import { jobAct, type TreeWork, transferDeadlineMs } from './tree-steps.ts';

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
    const { source, ...list } = lists;
    if (source !== undefined && source.sha256 === undefined) return [];
    const digest = digestOf({ list: { ...list, ...given({ source: source?.sha256 }) }, archive: sha256 });
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
      const packages = packageText(one.lists);
      const isBuilt = one.lists.source !== undefined;
      return {
        node,
        ...addressOf(one),
        kind: 'add',
        desired: 'listed',
        observed: known('absent'),
        from: isBuilt ? 'not built' : 'not listed',
        to: isBuilt ? `the wheel of ${packages} built, and its packages listed` : `the packages of ${packages} listed`,
        reason: `runtimes.${one.runtime.name}.${isBuilt ? 'source' : 'version'}`,
      };
    });

/** The steps that make a list in a staging folder, from which this computer reads it. */
export function listSteps(fleet: DesiredFleet, target: ObservedTarget, property: Property): readonly Step[] {
  return unlistedRuntimes(fleet).flatMap((one) => {
    if (addressOf(one).address !== property.address) return [];
    const { runtime, lists, tree } = one;
    const work = { target, property, tree };
    const supply = supplySteps(work, { ...runtime, extras: [] }, fleet);
    const [prepare] = supply.steps;
    const source = fetchSource(work, lists, fleet, prepare === undefined ? [] : [prepare]);
    const args = {
      tree,
      archive: supply.format,
      sha256: digestIn(runtime),
      python: lists.python,
      account: fleet.system.accounts.ranks ?? '',
      ...wantedOf(lists),
      mostBytes: mostListBytes,
      ...uvMirror(fleet),
    };
    const list = buildStep({
      name: `${property.address}/list`,
      class: 'job',
      act: jobAct(tree, { name: 'list-packages', args }),
      towards: [property],
      needs: [...supply.last, ...source],
      deadlineMs: buildDeadlineMs,
    });
    return [...supply.steps, ...source, list];
  });
}

const wantedOf = ({ name, version = '', source }: ListedPackage) =>
  source === undefined
    ? { wanted: `${name}==${version}` }
    : {
        wanted: name,
        source: { sha256: digestIn({ name, ...given({ sha256: source.sha256 }) }), mostBytes: mostWheelBytes },
      };

/** The step that downloads the archive of the commit; none for a package from the index. */
function fetchSource(
  { property, tree }: TreeWork,
  { name, source }: ListedPackage,
  { downloads, system }: DesiredFleet,
  needs: readonly Step[],
): readonly Step[] {
  if (source === undefined) return [];
  const { sizeBytes = 0 } = source;
  const { from: url, plainHttp } = sourceRelease(source, downloads);
  const args = { tree, sha256: digestIn({ name, ...given({ sha256: source.sha256 }) }), sizeBytes, url };
  const fetch = { ...args, ...given({ account: system.accounts.ranks, plainHttp }) };
  return [
    buildStep({
      name: `${property.address}/fetch-source`,
      class: 'job',
      act: jobAct(tree, { name: 'fetch-source', args: fetch }),
      towards: [property],
      needs,
      deadlineMs: transferDeadlineMs(sizeBytes),
    }),
  ];
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
