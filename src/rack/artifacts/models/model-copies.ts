import type { DesiredFleet, DesiredModel } from '../../../model/desired.ts';
import { shortDigest } from '../../../model/digest.ts';
import type { Facts, ObservedTree } from '../../../model/facts/fact-values.ts';
import type { NodeJob } from '../../../model/facts/node-records.ts';
import { given } from '../../../model/given.ts';
import { totalBytes } from '../../../model/model-bytes.ts';
import type { NodeName } from '../../../model/node.ts';
import { dayOf } from '../../../model/text/units.ts';
import { type FleetObservation, observedNodes } from '../../examination.ts';
import { read, readValue } from '../../fact.ts';
import { keeperFact } from '../../keeper/fact.ts';
import { jobsFact } from '../../records/jobs-fact.ts';
import { treesFact } from '../../records/trees-fact.ts';
import { type FoundCopy, foundCopies, soughtModel } from '../sources/adopted-copy.ts';
import { modelCopiesFact } from '../sources/model-copies-fact.ts';
import { undeclaredModels, usedModels } from './model-resource.ts';

interface CopyState {
  readonly state: 'complete' | 'staged' | 'changed' | 'unsealed' | 'missing' | 'unknown';
  /** Why the state is unknown, as a sentence. */
  readonly reason?: string;
  /** The files that the keeper or `models verify --full` found wrong. */
  readonly wrongFiles?: readonly string[];
  /** The day on which the keeper found the wrong file; absent if `models verify --full` did. */
  readonly foundOn?: string;
  /** The day on which the keeper last hashed every file and found all of them right. */
  readonly hashedOn?: string;
  /** The day on which the keeper could not read a file. */
  readonly unreadableOn?: string;
  /** The bytes that the job has prepared so far; absent if no job has recorded them. */
  readonly stagedBytes?: number;
  /** The job that prepares the copy: `done` if every file is staged and verified. Absent if no job runs or has ended. */
  readonly job?: 'running' | 'done' | 'failed';
  /** The time of day on the node, such as `22:00`, until which the running job waits for its hours. */
  readonly waitsUntil?: string;
}

export interface ModelCopy extends CopyState {
  readonly node: NodeName;
  /** True if a placement in the file reads the model on this node. */
  readonly isNeeded: boolean;
  /** Folders of other software that may have the model; absent if the node needs nothing. */
  readonly found?: readonly FoundCopy[];
  /** Folders that the SSH account may not read; absent like {@link found}. */
  readonly unreadable?: readonly string[];
  /** Why the search for such folders failed. */
  readonly unsearched?: string;
}

/** A model in the file, with its copies. Nodes that neither need nor have the model are left out. */
export interface ModelCopies {
  readonly model: DesiredModel;
  /** Absent while the list of files is not resolved. */
  readonly bytes?: number;
  readonly copies: readonly ModelCopy[];
}

export interface UndeclaredModel extends Pick<ObservedTree, 'name' | 'digest' | 'state' | 'bytes'> {
  readonly node: NodeName;
}

export function modelCopies(
  fleet: DesiredFleet,
  observation: FleetObservation,
  nodes: readonly NodeName[],
): readonly ModelCopies[] {
  const seen = observedNodes(fleet, observation);
  const targets = fleet.nodes.filter(({ name }) => nodes.includes(name));
  return fleet.models.map((model) => ({
    model,
    ...given({ bytes: model.digest === undefined ? undefined : totalBytes(model.files) }),
    copies: targets.flatMap((desired): readonly ModelCopy[] => {
      const isNeeded = usedModels(fleet, { desired }).includes(model);
      const facts = seen.find(({ name }) => name === desired.name)?.facts;
      const state = stateOn(model, facts);
      const isSought = isNeeded && state.state !== 'complete' && soughtModel(model) !== undefined;
      const search = isSought && facts !== undefined ? searchOn(model, facts) : {};
      return isNeeded || state.state !== 'missing' ? [{ node: desired.name, isNeeded, ...state, ...search }] : [];
    }),
  }));
}

/** The folders of other software on a node that does not have the model yet. */
function searchOn(model: DesiredModel, facts: Facts): Pick<ModelCopy, 'found' | 'unreadable' | 'unsearched'> {
  const search = read(facts, modelCopiesFact);
  if (search.kind === 'unknown') return { unsearched: search.detail };
  return { found: foundCopies(model, facts), unreadable: search.value.unreadable };
}

const unknownState = (reason: string): CopyState => ({ state: 'unknown', reason });

function stateOn({ name, digest, files }: DesiredModel, facts: Facts | undefined): CopyState {
  if (facts === undefined) return unknownState('The node was not reached.');
  const trees = read(facts, treesFact);
  if (trees.kind === 'unknown') return unknownState(trees.detail);
  const own = trees.value.filter((one) => one.kind === 'model' && one.name === name);
  if (digest === undefined)
    return own.length === 0 ? { state: 'missing' } : unknownState('The lock has no list of its files yet.');
  const version = shortDigest(digest);
  const versions = own.filter((one) => one.digest === version);
  const published = versions.find(({ state }) => state !== 'staged');
  const isStaged = versions.some(({ state }) => state === 'staged');
  if (published?.state === 'intact') return { state: 'complete', ...hashesOf(facts, published) };
  if (isStaged) return { state: 'staged', ...progressOf(facts, `model ${name} ${version}`, totalBytes(files)) };
  if (published === undefined) return { state: 'missing' };
  return {
    state: published.state === 'unsealed' ? 'unsealed' : 'changed',
    ...given({ wrongFiles: published.wrongFiles, foundOn: dayAt(published.foundAtEpochSeconds) }),
  };
}

const dayAt = (epochSeconds: number | undefined): string | undefined =>
  epochSeconds === undefined ? undefined : dayOf(epochSeconds * 1_000);

/** The keeper's last result for a version; empty if there is none, or if the keeper is unknown. */
function hashesOf(facts: Facts, { name, digest }: ObservedTree): Pick<CopyState, 'hashedOn' | 'unreadableOn'> {
  const hashed = readValue(facts, keeperFact)?.hashed ?? [];
  const dayIf = (isComplete: boolean): string | undefined =>
    dayAt(
      hashed.find((one) => one.model === name && one.version === digest && one.isComplete === isComplete)
        ?.atEpochSeconds,
    );
  return given({ hashedOn: dayIf(true), unreadableOn: dayIf(false) });
}

/** The progress of the job that prepares this tree; of several, the one that runs. */
function progressOf(facts: Facts, tree: string, bytes: number): Pick<CopyState, 'stagedBytes' | 'job' | 'waitsUntil'> {
  const jobs = (readValue(facts, jobsFact) ?? []).filter(({ fields }) => fields['tree'] === tree);
  const fields = (jobs.find((one) => one.fields['state'] === 'running') ?? jobs[0])?.fields ?? {};
  const stagedBytes = fields['done'] === undefined ? undefined : Number(fields['done']);
  const waitsUntil = fields['state'] === 'running' ? fields['until'] : undefined;
  return given({ stagedBytes, job: jobState(fields, stagedBytes === bytes), waitsUntil });
}

/** @param isWhole false for a job that adopted only some of the files; another one gets the rest */
function jobState({ state, exit }: NodeJob['fields'], isWhole: boolean): CopyState['job'] {
  if (state === 'running') return state;
  if (state !== 'ended') return undefined;
  if (exit !== '0') return 'failed';
  return isWhole ? 'done' : undefined;
}

export function undeclaredCopies(
  fleet: DesiredFleet,
  observation: FleetObservation,
  nodes: readonly NodeName[],
): readonly UndeclaredModel[] {
  return observedNodes(fleet, observation)
    .filter(({ name }) => nodes.includes(name))
    .flatMap(({ name: node, facts }) => {
      const trees = undeclaredModels(fleet, facts);
      return trees.kind === 'unknown'
        ? []
        : trees.value.map(({ name, digest, state, bytes }) => ({ node, name, digest, state, ...given({ bytes }) }));
    });
}
