import type { DesiredModel } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { chunkBytes, totalBytes } from '../../model/model-bytes.ts';
import type { NodeName } from '../../model/node.ts';
import type { DownloadHours } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';
import {
  diskFor,
  hasPublished,
  isBegun,
  neededBytes,
  usedModels,
  wrongFilesOn,
} from '../../rack/artifacts/models/model-resource.ts';
import { diskSpaceFact } from '../../rack/boot/fact.ts';
import { readValue } from '../../rack/fact.ts';
import type { ObservedTarget, View } from '../../rack/resource.ts';
import { type MeasuredRates, sentSteps, type TransferSource, transferOf } from './transfers.ts';

/** What a plan brings to one node, and what is there already. */
export interface NodeForecast {
  readonly node: NodeName;
  readonly uplinkBytes: number;
  readonly lanBytes: number;
  readonly controllerBytes: number;
  /** From other Macs over Thunderbolt cables; of a published file with wrong contents, at least one chunk. */
  readonly cableBytes: number;
  /** From other Macs over SSH; absent if there are none. */
  readonly sshBytes?: number;
  /** The number of these files; absent if there are none. */
  readonly repairedFiles?: number;
  /** Copied from another folder of the node. */
  readonly copiedBytes: number;
  /** Cloned from folders of other software on the node; absent if there are none. */
  readonly adoptedBytes?: number;
  /** Of models that the node's placements use and that are complete there. */
  readonly presentBytes: number;
  /** True if an earlier run has left a part of a model there; how much of it is unknown until the transfer starts. */
  readonly isPartlyStaged: boolean;
  /** Disk space for the missing models, at most. */
  readonly neededBytes: number;
  /** The highest rate of all nodes' downloads together; absent if the file sets none. */
  readonly maxBytesPerSecond?: number;
  /** The hours of each day in which nodes download, by their own clocks; absent if the file sets none. */
  readonly hours?: DownloadHours;
  /** The rates of earlier runs, of all nodes; absent if there are none. */
  readonly rates?: MeasuredRates;
  /** In the APFS container, whose volumes share their free space; absent if it was not observed. */
  readonly freeBytes?: number;
}

/** The forecast for each node that receives bytes, in fleet order. */
export function forecastTransfers(steps: readonly Step[], { desired, targets }: View): readonly NodeForecast[] {
  return targets.flatMap((target): readonly NodeForecast[] => {
    const node = target.desired.name;
    const own = steps.filter((step) => step.node === node);
    const transfers = sentSteps(own).flatMap((step) => {
      const transfer = transferOf(step);
      return transfer === undefined ? [] : [{ ...transfer, reused: repairOf(step, desired.models, target) }];
    });
    const reused = transfers.flatMap((one) => one.reused);
    const bytesFrom = (source: TransferSource): number =>
      sum(transfers, (one) => (one.from === source ? one.bytes - sum(one.reused, Number) : 0));
    const adoptedBytes = sum(own, adoptedBy);
    if (sum(transfers, ({ bytes }) => bytes) + adoptedBytes === 0) return [];
    const models = usedModels(desired, target).filter(({ digest }) => digest !== undefined);
    const present = models.filter((model) => hasPublished(target, model));
    const missing = models.filter((model) => !present.includes(model));
    const made = new Set(own.flatMap((step) => modelIn(step) ?? []));
    const arriving = missing.filter(({ name }) => made.has(name));
    return [
      {
        node,
        uplinkBytes: bytesFrom('uplink'),
        lanBytes: bytesFrom('lan'),
        controllerBytes: bytesFrom('controller'),
        cableBytes: bytesFrom('cables'),
        ...given({ sshBytes: bytesFrom('ssh') || undefined }),
        ...(reused.length === 0 ? {} : { repairedFiles: reused.length }),
        copiedBytes: bytesFrom('node'),
        ...(adoptedBytes === 0 ? {} : { adoptedBytes }),
        presentBytes: sum(present, sizeOf),
        isPartlyStaged: missing.some((model) => isBegun(target, model)),
        neededBytes: sum(arriving, (model) => neededBytes(target, model)) - diskFor(sum(reused, Number)),
        ...given({ maxBytesPerSecond: desired.downloads?.maxBytesPerSecond, hours: desired.downloads?.hours }),
        ...given({ freeBytes: readValue(target.facts, diskSpaceFact)?.freeBytes }),
      },
    ];
  });
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0);

const sizeOf = ({ files }: DesiredModel): number => totalBytes(files);

/** What a step keeps of each file of which it gets only wrong chunks from other Macs, if one chunk is wrong. */
function repairOf({ act }: Step, models: readonly DesiredModel[], target: ObservedTarget): readonly number[] {
  if (act.kind !== 'job' || act.name !== 'fetch-model' || act.args.peers?.role !== 'receive') return [];
  const { tree, files } = act.args;
  const model = models.find(({ name }) => name === tree.name);
  if (model === undefined) return [];
  const wrong = wrongFilesOn(target, model);
  const chunk = chunkBytes(sizeOf(model));
  return files.filter(({ path }) => wrong.includes(path)).map(({ sizeBytes }) => Math.max(0, sizeBytes - chunk));
}

const adoptedBy = ({ act }: Step): number =>
  act.kind === 'job' && act.name === 'adopt-model' ? totalBytes(act.args.files) : 0;

const modelIn = ({ act }: Step): string | undefined =>
  act.kind === 'script' && act.name === 'publish-tree' && act.args.tree.kind === 'model'
    ? act.args.tree.name
    : undefined;
