import { gatewayTree } from '../../../desired/resolve.ts';
import { builtWheel } from '../../../desired/settle/python-packages.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { driverOf } from '../../../drivers/registry.ts';
import { programsOf } from '../../../drivers/runtime-programs.ts';
import type { DesiredFleet, DesiredRuntime } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { ObservedTree } from '../../../model/facts/fact-values.ts';
import { given } from '../../../model/given.ts';
import { mapKnown, seenValue } from '../../../model/known.ts';
import { compareText } from '../../../model/lists.ts';
import type { JobArgs, JobCall, TreeId } from '../../../model/node-script.ts';
import type { Step } from '../../../model/step.ts';
import { addressed, runtimeSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { buildStep, scriptStep } from '../../build-step.ts';
import { compared } from '../../compare-values.ts';
import { readValue } from '../../fact.ts';
import { wantedGateways } from '../../placement/endpoint/gateways.ts';
import { treesFact } from '../../records/trees-fact.ts';
import { isIntact, treeAddress, treeOf, treesOf } from '../../records/trees-reading.ts';
import {
  type Blocker,
  type ObservedTarget,
  type Property,
  perTarget,
  type Resource,
  type View,
} from '../../resource.ts';
import {
  jobAct,
  placementsOn,
  publishStep,
  type TreeWork,
  transferDeadlineMs,
  treeBlocker,
  treeGate,
  treeWords,
  unreadBlockers,
} from '../trees/tree-steps.ts';
import { listProperties, listSteps } from './list-packages.ts';
import { buildDeadlineMs, digestIn, type Program, supplySteps, uvMirror } from './supply-runtime.ts';

const isKnown = ({ digest }: Program): boolean => digest !== undefined;

const runtimeTree = ({ name, digest }: Program): TreeId => treeOf('runtime', name, digest);

function runtimesOn(fleet: DesiredFleet, target: ObservedTarget): readonly DesiredRuntime[] {
  const used = new Set(placementsOn(fleet, target).map(({ runtime }) => runtime));
  return fleet.runtimes.filter(({ name }) => used.has(name));
}

/** The runtimes of a node's placements and, if it publishes an endpoint, the gateway's program; sorted by name. */
export function usedRuntimes(fleet: DesiredFleet, target: ObservedTarget): readonly Program[] {
  const isPublished = wantedGateways(fleet, target.desired.name).length > 0;
  const gateway = isPublished && fleet.gateway !== undefined ? [fleet.gateway] : [];
  return [...runtimesOn(fleet, target), ...gateway].toSorted((a, b) => compareText(a.name, b.name));
}

/** The key that names the archive; for a release, the place of all its keys. */
function reasonOf({ name, release }: Program): string {
  const isGateway = name === gatewayTree;
  if (release !== undefined) return isGateway ? 'gateway' : `runtimes.${name}`;
  return isGateway ? 'gateway.node' : `runtimes.${name}.archive`;
}

/** `1.0.71 (0123456789abcdef)`, or only the digits if the lock has no name for the version. */
const namedVersion = (names: NonNullable<DesiredFleet['versions']>, version: string): string =>
  names[version] === undefined ? version : `${names[version]} (${version})`;

const versionWords = ({ versions = {} }: DesiredFleet, value: string): string =>
  versions[value] === undefined ? treeWords(value) : namedVersion(versions, value);

function currentProperty(fleet: DesiredFleet, target: ObservedTarget, runtime: Program): Property {
  const tree = runtimeTree(runtime);
  const wanted = shortDigest(tree.digest);
  const observed = mapKnown(treesOf(target, tree), (versions) => {
    const current = versions.find(({ isCurrent }) => isCurrent);
    if (current === undefined) return 'absent';
    return current.state === 'intact' ? current.digest : 'changed';
  });
  return {
    node: target.desired.name,
    ...treeAddress('runtime', runtime.name),
    ...compared(wanted, observed, (value) => versionWords(fleet, value)),
    reason: reasonOf(runtime),
  };
}

/** These runtimes' versions on a node's disk, in use or not. */
export const installedProperties = (
  fleet: DesiredFleet,
  target: ObservedTarget,
  names: readonly string[],
): readonly Property[] =>
  runtimesOn(fleet, target)
    .filter((one) => names.includes(one.name) && isKnown(one))
    .map((one) => {
      const tree = runtimeTree(one);
      const wanted = shortDigest(tree.digest);
      const observed = mapKnown(treesOf(target, tree), (all) => (isIntact(all, tree) ? wanted : 'absent'));
      return {
        node: target.desired.name,
        ...addressed({ kind: 'runtime', name: one.name, part: 'installed' }),
        ...compared(wanted, observed, (value) => versionWords(fleet, value)),
        reason: reasonOf(one),
      };
    });

/** The steps that install a version next to the one in use. */
export const installSteps = (fleet: DesiredFleet, target: ObservedTarget, property: Property): readonly Step[] =>
  runtimesOn(fleet, target)
    .filter(({ name }) => name === property.about.name)
    .flatMap((one) => publishSteps({ target, property, tree: runtimeTree(one) }, one, fleet));

function oldProperty(
  { versions: names = {} }: DesiredFleet,
  target: ObservedTarget,
  name: string,
  wanted: string | undefined,
): Property {
  const versions = treesOf(target, { kind: 'runtime', name });
  const observed = mapKnown(versions, (all) => surplusVersions(all, wanted));
  return {
    node: target.desired.name,
    ...addressed({ kind: 'runtime', name, part: 'old' }),
    ...compared(
      [],
      observed,
      (digests) => digests.map((one) => namedVersion(names, one)).join(', ') || 'none',
      'removed, no rollback to it',
    ),
    reason: 'only one older version of a runtime is kept',
  };
}

function namesOn(used: readonly Program[], { facts }: ObservedTarget): readonly string[] {
  const trees = readValue(facts, treesFact) ?? [];
  const published = trees.filter(({ kind, state }) => kind === 'runtime' && state !== 'staged');
  return [...new Set([...used, ...published].map(({ name }) => name))].toSorted(compareText);
}

function propertiesOf(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  const used = usedRuntimes(fleet, target);
  const wantedOf = (name: string): string | undefined => {
    const runtime = used.find((one) => one.name === name);
    return runtime === undefined ? undefined : shortDigest(runtimeTree(runtime).digest);
  };
  return [
    ...used.filter(isKnown).map((runtime) => currentProperty(fleet, target, runtime)),
    ...namesOn(used.filter(isKnown), target)
      // Without the desired digest, it is unknown which older version to keep.
      .filter((name) => !used.some((one) => one.name === name && !isKnown(one)))
      .map((name) => oldProperty(fleet, target, name, wantedOf(name))),
    ...listProperties(fleet, target),
  ];
}

function madeBy(
  runtime: Program,
  fleet: DesiredFleet,
  tree: TreeId,
  archive: JobArgs['unpack-runtime']['archive'],
): JobCall {
  const extras = runtime.extras.map((extra) => ({ name: extra.name, sha256: digestIn(extra) }));
  const args = { tree, archive, sha256: digestIn(runtime), extras };
  if ('driver' in runtime && runtime.python !== undefined) {
    const account = fleet.system.accounts.ranks ?? '';
    const isOffline = runtime.wheels !== undefined;
    const { python } = runtime;
    const wheel = builtWheel(runtime);
    return {
      name: 'build-python',
      args: { ...args, python, isOffline, account, ...given({ wheel }), ...uvMirror(fleet) },
    };
  }
  const programs = programsOf(runtime, fleet);
  const binHas = 'driver' in runtime ? driverOf(runtime).binHas?.(programs) : undefined;
  return { name: 'unpack-runtime', args: { ...args, ...listed(programs), ...given({ binHas }) } };
}

/** Programs that the tree must contain, so that a missing program is found before anything stops. */
const listed = (programs: readonly string[]) => given({ programs: programs.length === 0 ? undefined : programs });

/** The steps from an archive to a published version next to the version in use. */
function publishSteps(work: TreeWork, runtime: Program, fleet: DesiredFleet): readonly Step[] {
  const { sizeBytes = 0 } = runtime;
  const { property, tree } = work;
  const supply = supplySteps(work, runtime, fleet);
  const call = madeBy(runtime, fleet, tree, supply.format);
  const isBuilt = call.name === 'build-python';
  const unpack = buildStep({
    name: `${property.address}/${isBuilt ? 'build' : 'unpack'}`,
    class: 'job',
    act: jobAct(tree, call),
    towards: [property],
    needs: supply.last,
    deadlineMs: isBuilt ? buildDeadlineMs : transferDeadlineMs(sizeBytes),
  });
  return [...supply.steps, unpack, publishStep(work, [unpack])];
}

function currentSteps(
  fleet: DesiredFleet,
  target: ObservedTarget,
  runtime: Program,
  property: Property,
): readonly Step[] {
  const tree = runtimeTree(runtime);
  const isThere = isIntact(seenValue(treesOf(target, tree)) ?? [], tree);
  const steps = isThere ? [] : publishSteps({ target, property, tree }, runtime, fleet);
  const switched = scriptStep({
    name: `${property.address}/switch`,
    call: { name: 'switch-runtime', args: { tree, ...listed(programsOf(runtime, fleet)) } },
    makes: [property],
    needs: steps.slice(-1),
    deadlineMs: 60_000,
  });
  return [...steps, switched, treeGate(property, [switched])];
}

function oldSteps(name: string, property: Property): readonly Step[] {
  const { observed } = property;
  const digests = observed.kind === 'known' && Array.isArray(observed.value) ? observed.value.map(String) : [];
  return [
    scriptStep({
      name: `${property.address}/remove`,
      call: { name: 'remove-runtime-versions', args: { name, digests } },
      makes: [property],
      deadlineMs: 120_000,
    }),
  ];
}

function nodeSteps(fleet: DesiredFleet, target: ObservedTarget, made: readonly Property[]): readonly Step[] {
  const used = usedRuntimes(fleet, target);
  return made.flatMap((property) => {
    const { name = '', part } = property.about;
    const runtime = used.find((one) => one.name === name);
    if (part === 'old') return oldSteps(name, property);
    if (part === 'packages') return listSteps(fleet, target, property);
    return runtime === undefined ? [] : currentSteps(fleet, target, runtime, property);
  });
}

/** Nodes that lack the version to which a runtime was rolled back. Its archive is gone, so apply cannot install it. */
const versionGone = ({ desired, targets }: View): readonly Blocker[] =>
  targets.flatMap((target) =>
    runtimesOn(desired, target).flatMap(({ name, digest, rolledBackFrom }) => {
      if (rolledBackFrom === undefined) return [];
      const tree = treeOf('runtime', name, digest);
      const versions = treesOf(target, tree);
      if (versions.kind === 'unknown' || isIntact(versions.value, tree)) return [];
      const { name: node } = target.desired;
      const action = prose`${node} has no intact version ${shortDigest(tree.digest)} of ${name}. Return to the newer version: ${meshwright('rollback', name, '--undo')}`;
      return [treeBlocker('runtime', name, { code: 'runtime/version-gone', node, action })];
    }),
  );

/** Older versions of meshwright did not record them. */
const unknownKeys =
  " The lock does not record this version's keys (`program`, `version`, `command` and others), so the current keys in the file are used.";

/** Runtimes that `rollback` set to a version older than their archive's. */
const rolledBackNotices = ({ desired }: View): readonly Diagnostic[] =>
  desired.runtimes.flatMap(({ name, digest, rolledBackFrom, hasFileKeys }) => {
    if (digest === undefined || rolledBackFrom === undefined) return [];
    const subject = runtimeSubject(name);
    const detail = prose`The desired version of ${named(name)} is ${shortDigest(digest)}, which is older than its archive's version ${shortDigest(rolledBackFrom)}.${hasFileKeys === true ? unknownKeys : ''}`;
    const hint = prose`To use the newer version again: ${meshwright('rollback', name, '--undo')}. Or set a different archive in the file.`;
    return [diagnose('runtime/rolled-back', { subject, detail, hint })];
  });

/**
 * The version of each runtime that a node uses: published next to the one in use, then switched to atomically. One
 * older version is kept for a rollback. If no placement on the node uses a runtime, one of its versions remains.
 */
export const runtime: Resource = {
  kind: 'runtime',
  after: ['identity', 'sudo', 'accounts'],
  ...perTarget(propertiesOf, nodeSteps),
  blockers: (view) => [
    ...versionGone(view),
    ...view.targets.flatMap((target) =>
      unreadBlockers('runtime', runtimesOn(view.desired, target), target.desired.name),
    ),
  ],
  notices: rolledBackNotices,
};

/**
 * One runtime's unneeded versions: all except the current one, the desired one and one older. Until the desired
 * version is current, the current one counts as the older one, so that a rollback is always possible.
 * @param wanted the first 16 digits of the desired version; undefined if the node should have none
 * @returns their digits, sorted
 */
export function surplusVersions(versions: readonly ObservedTree[], wanted: string | undefined): readonly string[] {
  const current = versions.find(({ isCurrent }) => isCurrent)?.digest;
  const others = versions
    .map(({ digest }) => digest)
    .filter((digest) => digest !== current && digest !== wanted)
    .toSorted(compareText);
  // The lock does not record the previous version, so any of the others can be kept.
  const isOlderRetained = current !== undefined && current !== wanted;
  return isOlderRetained ? others : others.slice(1);
}
