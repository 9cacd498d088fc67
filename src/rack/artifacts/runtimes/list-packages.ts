import { packageText } from '../../../desired/package-source.ts';
import { mostListBytes, mostWheelBytes } from '../../../desired/settle/python-packages.ts';
import { isMadeFirst } from '../../../desired/settle/settle-runtime.ts';
import type { BuiltProgram, DesiredFleet, DesiredRuntime, ListedPackage } from '../../../model/desired.ts';
import { type Digest, digestOf } from '../../../model/digest.ts';
import { given } from '../../../model/given.ts';
import { known } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { TreeId } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { addressed } from '../../../model/subject.ts';
import { buildStep } from '../../build-step.ts';
import type { ObservedTarget, Property } from '../../resource.ts';
import { jobAct } from '../trees/tree-steps.ts';
import { archiveSteps, fetchSource, sourceDigest } from './build-archive.ts';
import { buildDeadlineMs, digestIn, supplySteps, uvMirror } from './supply-runtime.ts';

/** A runtime whose list of packages or built archive is missing, and everything that it depends on. */
export interface UnmadeRuntime {
  readonly runtime: DesiredRuntime;
  readonly made: ListedPackage | BuiltProgram;
  /** The place of the work on a node. Nothing is published from it. */
  readonly tree: TreeId;
}

/** True for a list of packages; otherwise, the archive is built. */
export const isListed = (made: UnmadeRuntime['made']): made is ListedPackage => 'python' in made;

/** The runtimes whose lists or archives a node can make, because everything that they depend on is known. */
export const unmadeRuntimes = ({ runtimes }: Pick<DesiredFleet, 'runtimes'>): readonly UnmadeRuntime[] =>
  runtimes.flatMap((runtime): readonly UnmadeRuntime[] => {
    const { name, unread } = runtime;
    const made = runtime.builds ?? runtime.extras.find(({ lists }) => lists !== undefined)?.lists;
    const digest = made && isMadeFirst(unread) ? workDigest(runtime, made) : undefined;
    return made === undefined || digest === undefined
      ? []
      : [{ runtime, made, tree: { kind: 'runtime', name, digest } }];
  });

/**
 * The fleet with a digest for each of these runtimes, so that a plan shows what follows when their lists and archives
 * are made; the same object if there are none.
 */
export function withMadeRuntimes(fleet: DesiredFleet): DesiredFleet {
  const unmade = unmadeRuntimes(fleet);
  if (unmade.length === 0) return fleet;
  const runtimes = fleet.runtimes.map((runtime): DesiredRuntime => {
    const { digest } = unmade.find((one) => one.runtime === runtime)?.tree ?? {};
    if (digest === undefined) return runtime;
    const { unread: _, sha256 = digest, extras, ...rest } = runtime;
    return { ...rest, digest, sha256, extras: extras.map((extra) => ({ sha256: digest, ...extra })) };
  });
  return { ...fleet, runtimes };
}

/** The digest of everything that the result is made from; undefined while a part is unknown. */
function workDigest({ sha256 }: DesiredRuntime, made: UnmadeRuntime['made']): Digest | undefined {
  const { source } = made;
  if (source !== undefined && source.sha256 === undefined) return undefined;
  if (!isListed(made)) return digestOf({ build: { name: made.name, source: made.source.sha256 ?? '' } });
  const { source: _, ...list } = made;
  const listed = { ...list, ...given({ source: source?.sha256 }) };
  return sha256 === undefined ? undefined : digestOf({ list: listed, archive: sha256 });
}

const addressOf = ({ runtime: { name } }: UnmadeRuntime) => addressed({ kind: 'runtime', name, part: 'packages' });

/** A list or archive is made on the first node of the first placement with the runtime, unless `maker` names one. */
const makerOf = ({ placements }: DesiredFleet, { runtime }: UnmadeRuntime): NodeName | undefined =>
  placements.find((one) => one.runtime === runtime.name)?.nodes[0];

export const listProperties = (
  fleet: DesiredFleet,
  { desired: { name: node } }: ObservedTarget,
  isMaker: (one: UnmadeRuntime) => boolean = (one) => makerOf(fleet, one) === node,
): readonly Property[] =>
  unmadeRuntimes(fleet)
    .filter(isMaker)
    .map((one): Property => {
      const isBuilt = one.made.source !== undefined;
      return {
        node,
        ...addressOf(one),
        kind: 'add',
        desired: isListed(one.made) ? 'listed' : 'built',
        observed: known('absent'),
        from: isBuilt ? 'not built' : 'not listed',
        to: madeText(one.made),
        reason: `runtimes.${one.runtime.name}.${isBuilt ? 'source' : 'version'}`,
      };
    });

function madeText(made: UnmadeRuntime['made']): string {
  const text = packageText(made);
  if (!isListed(made)) return `${text} built`;
  return made.source === undefined
    ? `the packages of ${text} listed`
    : `the wheel of ${text} built, and its packages listed`;
}

/** The steps that make a list or an archive in a staging folder, from which this computer reads it. */
export function listSteps(fleet: DesiredFleet, target: ObservedTarget, property: Property): readonly Step[] {
  return unmadeRuntimes(fleet).flatMap((one) => {
    if (addressOf(one).address !== property.address) return [];
    const { runtime, made: lists, tree } = one;
    const work = { target, property, tree };
    if (!isListed(lists)) return archiveSteps(work, lists, fleet);
    const supply = supplySteps(work, { ...runtime, extras: [] }, fleet);
    const [prepare] = supply.steps;
    const needs = prepare === undefined ? [] : [prepare];
    const source = lists.source === undefined ? [] : fetchSource(work, lists.source, fleet, needs);
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
    : { wanted: name, source: { sha256: sourceDigest(source), mostBytes: mostWheelBytes } };
