import { isExchanged, layoutsOf, loadedModels } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { Facts, ObservedTree } from '../../../model/facts/fact-values.ts';
import { given } from '../../../model/given.ts';
import { type Known, mapKnown, seenValue } from '../../../model/known.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { NodeName } from '../../../model/node.ts';
import type { PeerPlan, TreeId } from '../../../model/node-script.ts';
import type { Act, Step } from '../../../model/step.ts';
import { linkSubject, nodeSubject } from '../../../model/subject.ts';
import { diskText } from '../../../model/text/units.ts';
import { treeFolder } from '../../../node/paths/own-paths.ts';
import type { SoughtModel } from '../../../node/probes/model-copies.ts';
import { diskSpaceFact } from '../../boot/fact.ts';
import { compared } from '../../compare-values.ts';
import { read, readValue } from '../../fact.ts';
import { jobsFact } from '../../records/jobs-fact.ts';
import { treesFact } from '../../records/trees-fact.ts';
import { isIntact, treeAddress, treeOf, treesOf, wrongText } from '../../records/trees-reading.ts';
import {
  type Blocker,
  changedProperties,
  judgeProperty,
  type ObservedTarget,
  type Property,
  type Resource,
  type View,
} from '../../resource.ts';
import { cableRate, slowedExchange } from '../peers/cable-rate.ts';
import { freeLinks, linkUse } from '../peers/cables-in-use.ts';
import { fanOut, usesCables } from '../peers/fan-out.ts';
import { type AdoptedCopy, bestCopy, soughtModel } from '../sources/adopted-copy.ts';
import { modelSteps, serveSteps } from '../sources/fetch-steps.ts';
import { modelCopiesFact } from '../sources/model-copies-fact.ts';
import { isPrivate } from '../sources/url-source.ts';
import { jobKey, placementsOn, treeBlocker, treeWords, unreadBlockers } from '../trees/tree-steps.ts';

const modelTree = ({ name, digest }: DesiredModel): TreeId => treeOf('model', name, digest);

/** True if a placement's rank on this node reads model files, on its own nodes or on its fallback. */
export function isReader(
  { runtimes }: Pick<DesiredFleet, 'runtimes'>,
  placement: DesiredPlacement,
  node: NodeName,
): boolean {
  const found = runtimes.find(({ name }) => name === placement.runtime);
  const isLeader = layoutsOf(placement).some(({ nodes: [leader] }) => leader === node);
  return found === undefined || driverOf(found).modelReaders !== 'leader' || isLeader;
}

/** The models that a node's placements read, each once, sorted by name. */
export function usedModels(fleet: DesiredFleet, target: Pick<ObservedTarget, 'desired'>): readonly DesiredModel[] {
  const readers = placementsOn(fleet, target).filter((one) => isReader(fleet, one, target.desired.name));
  const used = new Set(readers.flatMap(loadedModels));
  return fleet.models.filter(({ name }) => used.has(name));
}

const knownModels = (fleet: DesiredFleet, target: Pick<ObservedTarget, 'desired'>): readonly DesiredModel[] =>
  usedModels(fleet, target).filter(({ digest }) => digest !== undefined);

/** The models to search for on a node, with those that it has already; undefined if there are none. */
export function soughtOn(fleet: DesiredFleet, name: NodeName): readonly SoughtModel[] | undefined {
  const desired = fleet.nodes.find((one) => one.name === name);
  const models = desired === undefined ? [] : usedModels(fleet, { desired });
  const sought = models.flatMap((wanted) => soughtModel(wanted) ?? []);
  return sought.length === 0 ? undefined : sought;
}

/** The version that is published on the node: its short digest if it is intact, otherwise `changed` or `absent`. */
function publishedVersion(target: ObservedTarget, wanted: DesiredModel): Known<string> {
  const tree = modelTree(wanted);
  const version = shortDigest(tree.digest);
  return mapKnown(treesOf(target, tree), (versions) => {
    if (isIntact(versions, tree)) return version;
    return versions.some(({ digest }) => digest === version) ? 'changed' : 'absent';
  });
}

export const hasPublished = (target: ObservedTarget, wanted: DesiredModel): boolean =>
  wanted.digest !== undefined && seenValue(publishedVersion(target, wanted)) === shortDigest(wanted.digest);

const isChanged = (target: ObservedTarget, wanted: DesiredModel): boolean =>
  seenValue(publishedVersion(target, wanted)) === 'changed';

/**
 * The folder from which a node takes files of a model: its own published one if that has changed, because most of its
 * files are still right, otherwise one of other software.
 */
function copyFor(target: ObservedTarget, wanted: DesiredModel): AdoptedCopy | undefined {
  if (!isChanged(target, wanted)) return bestCopy(wanted, target.facts);
  const folder = treeFolder(modelTree(wanted)).path;
  const wrong = wrongFilesOn(target, wanted);
  const files = wanted.files.filter(({ path }) => !wrong.includes(path)).map((file) => ({ ...file, from: file.path }));
  if (files.length === 0) return bestCopy(wanted, target.facts);
  const bytes = totalBytes(files);
  return { layout: 'named', folder, fence: folder, files, bytes, clonedBytes: bytes };
}

/** `from /Users/ana/.exo/models/… (a clone: no download, no extra disk)`. */
function copyWords({ folder, bytes, clonedBytes, files }: AdoptedCopy, wanted: DesiredModel): string {
  const isWhole = files.length === wanted.files.length;
  const isClone = clonedBytes === bytes;
  const what = isClone ? 'a clone' : 'a copy';
  const cost = isClone ? 'no extra disk' : `${diskText(bytes - clonedBytes)} of extra disk`;
  return isWhole
    ? `from ${folder} (${what}: no download, ${cost})`
    : `from ${folder} (${what} of ${files.length} of ${wanted.files.length} files, ${cost}; the rest from its source)`;
}

function ownTree(target: Pick<ObservedTarget, 'facts'>, wanted: DesiredModel): ObservedTree | undefined {
  const tree = modelTree(wanted);
  return seenValue(treesOf(target, tree))?.find(({ digest }) => digest === shortDigest(tree.digest));
}

export const wrongFilesOn = (target: Pick<ObservedTarget, 'facts'>, wanted: DesiredModel): readonly string[] =>
  ownTree(target, wanted)?.wrongFiles ?? [];

/** `changed since publication: wrong contents in a.bin (found on 2026-11-20)`. */
function changedWords(target: ObservedTarget, wanted: DesiredModel): string {
  const own = ownTree(target, wanted);
  const wrong = own && wrongText(own);
  return wrong === undefined ? treeWords('changed') : `${treeWords('changed')}: ${wrong}`;
}

function propertyOf(target: ObservedTarget, wanted: DesiredModel): Property {
  const version = shortDigest(modelTree(wanted).digest);
  const observed = publishedVersion(target, wanted);
  const copy = observed.kind === 'known' && observed.value !== version ? copyFor(target, wanted) : undefined;
  const how = isChanged(target, wanted) ? 'keeping what is still right' : copy && copyWords(copy, wanted);
  const to = how === undefined ? treeWords(version) : `${treeWords(version)}, ${how}`;
  return {
    node: target.desired.name,
    ...treeAddress('model', wanted.name),
    ...compared(version, observed, (word) => (word === 'changed' ? changedWords(target, wanted) : treeWords(word)), to),
    reason: `models.${wanted.name}`,
  };
}

/** True if a copy has begun. Its size so far is unknown, so only the disk can show whether the rest fits. */
export function isBegun({ facts }: ObservedTarget, wanted: DesiredModel): boolean {
  const version = shortDigest(modelTree(wanted).digest);
  const trees = readValue(facts, treesFact) ?? [];
  return trees.some(({ name, digest, state }) => name === wanted.name && digest === version && state === 'staged');
}

/** The disk space for files of this size: a tenth more. */
export const diskFor = (bytes: number): number => Math.ceil(bytes * 1.1);

/** Bytes that a copy needs. Clones need none. */
export const neededBytes = (target: ObservedTarget, wanted: DesiredModel): number =>
  diskFor(totalBytes(wanted.files) - (copyFor(target, wanted)?.clonedBytes ?? 0));

function noRoom(target: ObservedTarget, wanted: DesiredModel, freeBytes: number): Blocker {
  const { name } = wanted;
  const node = target.desired.name;
  const needed = diskText(neededBytes(target, wanted));
  const action = `Free up space on the data volume of ${node}: ${name} needs ${needed}, and ${diskText(freeBytes)} is available for it.`;
  return treeBlocker('model', name, { code: 'model/no-room', node, action });
}

/** Blockers for models that do not fit after those before them are copied. */
function roomBlockers(fleet: DesiredFleet, target: ObservedTarget): readonly Blocker[] {
  const disk = readValue(target.facts, diskSpaceFact);
  const missing = knownModels(fleet, target).filter(
    (wanted) => judgeProperty(propertyOf(target, wanted)) === 'differs' && !isBegun(target, wanted),
  );
  if (disk === undefined) return [];
  let { freeBytes } = disk;
  const blockers: Blocker[] = [];
  for (const wanted of missing) {
    if (neededBytes(target, wanted) > freeBytes) {
      blockers.push(noRoom(target, wanted, freeBytes));
    } else {
      freeBytes -= neededBytes(target, wanted);
    }
  }
  return blockers;
}

/**
 * Published model versions on a node that are not in the file. If the list of a model's files is not resolved yet, each
 * of its versions may be the one in the file.
 */
export function undeclaredModels(
  { models }: Pick<DesiredFleet, 'models'>,
  facts: Facts,
): Known<readonly ObservedTree[]> {
  const isDeclared = ({ name, digest: version }: ObservedTree): boolean =>
    models.some((one) => one.name === name && (one.digest === undefined || shortDigest(one.digest) === version));
  return mapKnown(read(facts, treesFact), (trees) =>
    trees.filter((one) => one.kind === 'model' && one.state !== 'staged' && !isDeclared(one)),
  );
}

/** Reports versions that are not in the file; apply never deletes them. */
function leftovers({ desired, targets }: View): readonly Diagnostic[] {
  return targets.flatMap(({ desired: { name: node }, facts }) => {
    const undeclared = seenValue(undeclaredModels(desired, facts)) ?? [];
    const names = undeclared.map(({ name, digest }) => `${name} (${digest})`);
    const detail = `It stores models that are not in the file: ${names.join(', ')}.`;
    return names.length === 0 ? [] : [diagnose('model/not-declared', { subject: nodeSubject(node), detail })];
  });
}

/** Folders that could not be searched, and copies that are not used, of models that a node is about to fetch. */
function unusedCopies({ desired, targets }: View): readonly Diagnostic[] {
  return targets.flatMap((target) => {
    const missing = knownModels(desired, target).filter(
      (wanted) =>
        soughtModel(wanted) !== undefined &&
        judgeProperty(propertyOf(target, wanted)) === 'differs' &&
        copyFor(target, wanted) === undefined,
    );
    if (missing.length === 0) return [];
    const subject = nodeSubject(target.desired.name);
    const found = read(target.facts, modelCopiesFact);
    const names = missing.map(({ name }) => name);
    if (found.kind === 'unknown') {
      const detail = `Folders with ${names.join(', ')} were not found, because the search failed: ${found.detail}`;
      return [diagnose('model/copies-unknown', { subject, detail })];
    }
    const { folders, unreadable } = found.value;
    const outside = folders.filter(({ model, leadsOutside }) => leadsOutside === true && names.includes(model));
    const unused = outside.map(({ model, folder }) => {
      const detail = `${model} may be in ${folder}, but a link there leads out of the folder.`;
      return diagnose('model/copy-unused', { subject, detail });
    });
    if (unreadable.length === 0) return unused;
    const detail = `${names.join(', ')} may also be in ${unreadable.join(', ')}, which the SSH account may not read.`;
    return [...unused, diagnose('model/copies-unknown', { subject, detail })];
  });
}

/** How the Macs that get a model exchange it with all that have it, over these cables or Ethernet. */
function exchangeOf(
  view: View,
  wanted: DesiredModel,
  receivers: readonly NodeName[],
  links: View['examination']['cabling']['links'],
): ReadonlyMap<NodeName, PeerPlan> {
  const { desired, targets } = view;
  const { source } = wanted;
  if (wanted.digest === undefined || !isExchanged(wanted)) return new Map();
  // Also Macs where no placement uses the model: one that moves to another Mac is not downloaded again.
  const seeds = targets.filter((one) => hasPublished(one, wanted));
  // The Macs that have such a model are its only source, so a Mac that failed to get it from them gets it from here.
  const isSent = source.kind === 'controller' && seeds.length > 0;
  const isLeftOut = (one: ObservedTarget): boolean =>
    isPrepared(one, wanted) || (isSent && lastFetch(one, wanted) === 'failed');
  const leftOut = targets.filter(isLeftOut).map(({ desired: { name } }) => name);
  const getting = receivers.filter((node) => !leftOut.includes(node));
  return fanOut(desired, links, {
    digest: wanted.digest,
    receivers: getting,
    seeds: seeds.map(({ desired: { name } }) => name),
    downloaders: downloadersOf(view, wanted, getting),
    ...given({
      account: desired.system.accounts.transfers,
      isPrivate: isPrivate(source) || undefined,
    }),
  });
}

const missingOn = ({ desired, targets }: View, wanted: DesiredModel): readonly NodeName[] =>
  targets
    .filter((one) => knownModels(desired, one).includes(wanted) && judgeProperty(propertyOf(one, wanted)) === 'differs')
    .map((one) => one.desired.name);

/** Macs that restarted while they exchanged a model, and continue at a lower rate. */
function slowedExchanges(view: View): readonly Diagnostic[] {
  const { desired, targets } = view;
  return desired.models.flatMap((wanted) => {
    const names = missingOn(view, wanted);
    if (names.length === 0) return [];
    const exchange = exchangeOf(view, wanted, names, freeLinks(view));
    return targets.flatMap(({ desired: { name }, facts }) => {
      const plan = exchange.get(name);
      const rate = plan !== undefined && usesCables(plan) ? cableRate(facts, modelTree(wanted)) : undefined;
      return rate === undefined ? [] : [slowedExchange(name, wanted.name, rate)];
    });
  });
}

/** How the last job ended that should get the model from other Macs or its source; undefined if none has ended. */
function lastFetch({ facts }: ObservedTarget, wanted: DesiredModel): 'done' | 'failed' | undefined {
  const own = jobKey(modelTree(wanted), 'fetch-model');
  const jobs = readValue(facts, jobsFact) ?? [];
  const ended = jobs.find(({ key, fields }) => key === own && fields['state'] === 'ended');
  return ended && (ended.fields['exit'] === '0' ? 'done' : 'failed');
}

/** True if a copy only has to be published, as after `models pull --detach`. */
const isPrepared = (target: ObservedTarget, wanted: DesiredModel): boolean =>
  isBegun(target, wanted) && lastFetch(target, wanted) === 'done';

/** Macs that get a model over Ethernet despite cables, because a placement runs on these or ranks are unknown. */
function busyCables(view: View): readonly Diagnostic[] {
  const { targets, examination } = view;
  const { links } = examination.cabling;
  const free = freeLinks(view);
  if (free.length === links.length) return [];
  const isUsed = linkUse(targets);
  const mayRun = (node: NodeName): boolean =>
    links.every(({ link }) => !link.ends.some((end) => end.node === node) || isUsed(link) !== true);
  return view.desired.models.flatMap((wanted) => {
    const names = missingOn(view, wanted);
    const possible = exchangeOf(view, wanted, names, links);
    const used = exchangeOf(view, wanted, names, free);
    const isCabled = (one: PeerPlan | undefined): boolean =>
      one?.role === 'receive' && one.sources.some(({ address }) => address !== undefined);
    const slower = names.filter((name) => isCabled(possible.get(name)) && !isCabled(used.get(name)));
    return slower.map((node) =>
      diagnose('model/cables-in-use', {
        subject: nodeSubject(node),
        detail: `A placement ${mayRun(node) ? 'may be' : 'is'} running on its cables to the other Macs, so ${wanted.name} does not use them.`,
      }),
    );
  });
}

/** Cables that a model would use if they had not been measured as dead. */
function deadCables(view: View): readonly Diagnostic[] {
  const { thunderbolt, models } = view.desired;
  const { measured = {} } = thunderbolt;
  const exchanges = models.filter(isExchanged).map((wanted) => ({
    missing: missingOn(view, wanted),
    holders: view.targets
      .filter((one) => usedModels(view.desired, one).includes(wanted) || hasPublished(one, wanted))
      .map(({ desired }) => desired.name),
  }));
  return thunderbolt.links.flatMap(({ index, ends }) => {
    const found = measured[index];
    const isMissed = exchanges.some(
      ({ missing, holders }) =>
        ends.every(({ node }) => holders.includes(node)) && ends.some(({ node }) => missing.includes(node)),
    );
    if (found?.carries !== 'nothing' || !isMissed) return [];
    const detail = `On ${found.at.slice(0, 10)}, neither RDMA nor TCP got through, so models do not use this cable.`;
    return [diagnose('cables/measured-dead', { subject: linkSubject(ends), detail })];
  });
}

/** The Macs that get a model, the best one to download it first: the one in the file, or the one that has most of it. */
function downloadersOf({ desired, targets }: View, wanted: DesiredModel, receivers: readonly NodeName[]) {
  const copied = (node: NodeName): number => {
    const target = targets.find(({ desired: { name } }) => name === node);
    return (target && copyFor(target, wanted)?.bytes) ?? 0;
  };
  const via = receivers.filter((node) => node === desired.downloads?.via);
  return [...new Set([...via, ...receivers.toSorted((one, other) => copied(other) - copied(one))])];
}

/** The steps that bring one model to the Macs that lack it, and those of the Macs that serve it meanwhile. */
function stepsFor(view: View, wanted: DesiredModel, made: readonly Property[]): readonly Step[] {
  const own = made.filter(({ about }) => about.name === wanted.name);
  if (own.length === 0) return [];
  const receivers = own.map(({ node }) => node);
  const exchange = exchangeOf(view, wanted, receivers, freeLinks(view));
  const limit = view.desired.downloads?.maxBytesPerSecond;
  const downloading = own.filter(({ node }) => exchange.get(node)?.role !== 'receive').length;
  const maxBytesPerSecond = limit === undefined ? undefined : Math.ceil(limit / Math.max(1, downloading));
  const steps = view.targets.flatMap((target) => {
    const peers = exchange.get(target.desired.name);
    const property = own.find(({ node }) => node === target.desired.name);
    if (property === undefined)
      return peers === undefined
        ? []
        : serveSteps(propertyOf(target, wanted), { tree: modelTree(wanted), files: wanted.files, peers });
    const work = { target, property, tree: modelTree(wanted) };
    return modelSteps(work, wanted, copyFor(target, wanted), {
      account: view.desired.system.accounts.transfers,
      peers,
      maxBytesPerSecond,
      hours: view.desired.downloads?.hours,
      isPrepared: isPrepared(target, wanted) || undefined,
    });
  });
  // Other Macs have nothing to receive before an origin has cloned the copies that it found.
  const cloning = steps.filter(({ act, node }) => jobOf(act) === 'adopt-model' && exchange.get(node)?.role === 'serve');
  // Without a source of their own, they need a Mac that serves what this computer sends.
  const serving = steps.filter(({ act }) => jobOf(act) === 'verify-model' && act.kind === 'job' && act.isDetached);
  const ids = (all: readonly Step[]) => all.map(({ id }) => id);
  return steps.map((step) => {
    const isReceiving = jobOf(step.act) === 'fetch-model' && exchange.get(step.node)?.role === 'receive';
    if (!isReceiving) return step;
    const needs = [...step.needs, ...ids(serving)];
    return { ...step, needs, ...(cloning.length > 0 ? { after: ids(cloning) } : {}) };
  });
}

const jobOf = (act: Act): string | undefined => (act.kind === 'job' ? act.name : undefined);

/** Model files on each node; the node verifies every file before any of them is used. */
export const model: Resource = {
  kind: 'model',
  after: ['identity', 'sudo', 'accounts'],
  properties: ({ desired, targets }) =>
    targets.flatMap((target) => knownModels(desired, target).map((wanted) => propertyOf(target, wanted))),
  steps: (changes, view) => {
    const made = changedProperties(changes, model.properties(view));
    return { steps: view.desired.models.flatMap((wanted) => stepsFor(view, wanted, made)) };
  },
  blockers: ({ desired, targets }) =>
    targets.flatMap((target) => [
      ...roomBlockers(desired, target),
      ...unreadBlockers('model', usedModels(desired, target), target.desired.name),
    ]),
  notices: (view) => [
    ...leftovers(view),
    ...unusedCopies(view),
    ...busyCables(view),
    ...deadCables(view),
    ...slowedExchanges(view),
  ],
};
