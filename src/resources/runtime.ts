import type { DesiredFleet, DesiredRuntime } from '../model/desired.ts';
import { shortDigest } from '../model/digest.ts';
import type { JobArgs, TreeId } from '../model/node-script.ts';
import type { Step } from '../model/step.ts';
import { stagedArchive } from '../script/tree-paths.ts';
import { buildStep, gateStep, scriptStep } from './build-step.ts';
import { changedProperties, patchesOf } from './change.ts';
import { compareText } from './compare-text.ts';
import type { ObservedTarget, Property, Resource } from './resource.ts';
import { surplusVersions } from './runtime-versions.ts';
import { knownWords, mapKnown } from './seen-fact.ts';
import {
  isIntact,
  jobAct,
  placementsOn,
  prepareStep,
  publishStep,
  type TreeWork,
  transferDeadlineMs,
  treeOf,
  treeStates,
  treesOf,
  treeWords,
} from './trees.ts';

const runtimeTree = ({ name, sha256 }: DesiredRuntime): TreeId => treeOf('runtime', name, sha256);

/** The runtimes that the placements of a node use, each once, sorted by name. */
function usedRuntimes(fleet: DesiredFleet, target: ObservedTarget): readonly DesiredRuntime[] {
  const used = new Set(placementsOn(fleet, target).map(({ runtime }) => runtime));
  return fleet.runtimes.filter(({ name }) => used.has(name));
}

function currentProperty(target: ObservedTarget, runtime: DesiredRuntime): Property {
  const tree = runtimeTree(runtime);
  const wanted = shortDigest(tree.digest);
  const observed = mapKnown(treesOf(target, tree), (versions) => {
    const current = versions.find(({ isCurrent }) => isCurrent);
    if (current === undefined) {
      return treeStates.absent;
    }
    return current.state === 'intact' ? current.digest : treeStates.changed;
  });
  return {
    node: target.desired.name,
    address: `runtime/${runtime.name}`,
    desired: wanted,
    observed,
    from: knownWords(observed, treeWords),
    to: treeWords(wanted),
    reason: `runtimes.${runtime.name}.archive`,
  };
}

const versionsWords = (digests: readonly string[]): string => (digests.length === 0 ? 'none' : digests.join(', '));

function oldProperty(target: ObservedTarget, name: string, wanted: string | undefined): Property {
  const versions = treesOf(target, { kind: 'runtime', name });
  const observed = mapKnown(versions, (all) => surplusVersions(all, wanted));
  return {
    node: target.desired.name,
    address: `runtime/${name}/old`,
    desired: [],
    observed,
    from: knownWords(observed, versionsWords),
    to: 'removed',
    reason: 'one older version of a runtime is kept',
  };
}

/** The runtimes of which a node has versions, or is to have one. */
function namesOn(used: readonly DesiredRuntime[], { facts: { trees } }: ObservedTarget): readonly string[] {
  const there = trees.kind === 'known' ? trees.value.filter(({ kind }) => kind === 'runtime') : [];
  const published = there.filter(({ state }) => state !== 'staged');
  return [...new Set([...used, ...published].map(({ name }) => name))].toSorted(compareText);
}

function propertiesOf(fleet: DesiredFleet, target: ObservedTarget): readonly Property[] {
  const used = usedRuntimes(fleet, target);
  const wantedOf = (name: string): string | undefined => {
    const runtime = used.find((one) => one.name === name);
    return runtime === undefined ? undefined : shortDigest(runtimeTree(runtime).digest);
  };
  return [
    ...used.map((runtime) => currentProperty(target, runtime)),
    ...namesOn(used, target).map((name) => oldProperty(target, name, wantedOf(name))),
  ];
}

function archiveFormat(path: string): JobArgs['unpack-runtime']['archive'] {
  if (path.endsWith('.zip')) {
    return 'zip';
  }
  return path.endsWith('.tar.xz') ? 'tar.xz' : 'tar.gz';
}

/** From the archive of the controller to a published version beside the one that is in use. */
function publishSteps(work: TreeWork, { archive, sizeBytes = 0 }: DesiredRuntime): readonly Step[] {
  const { property, tree } = work;
  const about = { node: property.node, resource: 'runtime', towards: [property] } as const;
  const format = archiveFormat(archive);
  const to = stagedArchive(tree, format);
  const prepare = prepareStep(work);
  const send = buildStep({
    ...about,
    name: `${property.address}/send`,
    class: 'converge',
    act: { kind: 'send', source: archive, to, sha256: tree.digest, sizeBytes },
    needs: [prepare],
    deadlineMs: transferDeadlineMs(sizeBytes),
  });
  const unpack = buildStep({
    ...about,
    name: `${property.address}/unpack`,
    class: 'job',
    act: jobAct(tree, { name: 'unpack-runtime', args: { tree, archive: format, sha256: tree.digest } }),
    needs: [send],
    deadlineMs: transferDeadlineMs(sizeBytes),
  });
  return [prepare, send, unpack, publishStep(work, [unpack])];
}

function currentSteps(target: ObservedTarget, runtime: DesiredRuntime, property: Property): readonly Step[] {
  const tree = runtimeTree(runtime);
  const versions = treesOf(target, tree);
  const isThere = versions.kind === 'known' && isIntact(versions.value, tree);
  const steps = isThere ? [] : publishSteps({ target, property, tree }, runtime);
  const about = { node: property.node, resource: 'runtime' } as const;
  const switched = scriptStep({
    ...about,
    name: `${property.address}/switch`,
    call: { name: 'switch-runtime', args: { tree } },
    makes: [property],
    needs: steps.slice(-1),
    deadlineMs: 60_000,
  });
  const gate = gateStep({
    ...about,
    name: `${property.address}/gate`,
    needs: [switched],
    expect: patchesOf([property]),
    deadlineMs: 120_000,
  });
  return [...steps, switched, gate];
}

function oldSteps(target: ObservedTarget, name: string, property: Property): readonly Step[] {
  const { observed } = property;
  const digests = observed.kind === 'known' && Array.isArray(observed.value) ? observed.value.map(String) : [];
  return [
    scriptStep({
      node: target.desired.name,
      resource: 'runtime',
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
    const [, name = '', part] = property.address.split('/');
    const runtime = used.find((one) => one.name === name);
    if (part === 'old') {
      return oldSteps(target, name, property);
    }
    return runtime === undefined ? [] : currentSteps(target, runtime, property);
  });
}

/**
 * The version of each runtime that a node uses: published beside the one in use, then switched to in one act, with one
 * older version kept to go back to. Of runtimes that no placement of the node uses any more one version stays.
 */
export const runtime: Resource = {
  kind: 'runtime',
  after: ['identity', 'sudo'],
  properties: ({ desired, targets }) => targets.flatMap((target) => propertiesOf(desired, target)),
  steps: (changes, { desired, targets }) => ({
    steps: targets.flatMap((target) =>
      nodeSteps(desired, target, changedProperties(changes, propertiesOf(desired, target))),
    ),
    rescues: [],
  }),
  blockers: () => [],
};
