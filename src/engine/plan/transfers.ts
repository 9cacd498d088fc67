import { totalBytes } from '../../model/model-bytes.ts';
import type { Step } from '../../model/step.ts';

/**
 * Where a transfer's bytes come from: this computer, a server beyond the uplink or in the local network, other Macs over
 * Thunderbolt cables without encryption or over SSH, or a disk of the node itself. `staged`: the bytes are already on the
 * node, and the step only compares them.
 */
export type TransferSource = 'controller' | 'uplink' | 'lan' | 'cables' | 'ssh' | 'node' | 'staged';

/** The bytes that a step brings to its node or compares there. */
export interface Transfer {
  readonly bytes: number;
  readonly from: TransferSource;
}

/**
 * The rate that each kind of source reached when it was last measured: for cables and SSH that of the slowest receiving
 * node, for the others that of all nodes together. `oneCable`: that of TCP over the slowest cable, from `cables --measure`.
 */
export type MeasuredRates = Partial<Readonly<Record<TransferSource | 'oneCable', MeasuredRate>>>;

export interface MeasuredRate {
  readonly bytesPerSecond: number;
  /** ISO 8601 timestamp of the run. */
  readonly at: string;
}

/** The steps without the files that the node first clones from other software: the source sends only the others. */
export function sentSteps(steps: readonly Step[]): readonly Step[] {
  const clones = steps.flatMap(({ node, act }) =>
    act.kind === 'job' && act.name === 'adopt-model' ? act.args.files.map(({ sha256 }) => `${node} ${sha256}`) : [],
  );
  const cloned = new Set(clones);
  return steps.flatMap((step): readonly Step[] => {
    const { node, act } = step;
    if (act.kind === 'send') return cloned.has(`${node} ${act.sha256}`) ? [] : [step];
    if (act.kind !== 'job' || act.name !== 'fetch-model') return [step];
    const files = act.args.files.filter(({ sha256 }) => !cloned.has(`${node} ${sha256}`));
    return [{ ...step, act: { ...act, args: { ...act.args, files } } }];
  });
}

/** The transfer of a step; undefined for steps that transfer nothing or report no bytes. */
export function transferOf({ act }: Pick<Step, 'act'>): Transfer | undefined {
  if (act.kind === 'send') return { bytes: act.sizeBytes, from: 'controller' };
  if (act.kind !== 'job') return undefined;
  switch (act.name) {
    case 'fetch-archive':
    case 'fetch-source':
      return { bytes: act.args.sizeBytes, from: networkOf(act.args.url) };
    case 'fetch-model': {
      const { files, source, peers, isPrepared } = act.args;
      if (isPrepared) return undefined;
      if (peers?.role === 'receive') {
        const isOverSsh = peers.sources.some((one) => one.isOverSsh === true);
        return { bytes: totalBytes(files), from: isOverSsh ? 'ssh' : 'cables' };
      }
      return { bytes: totalBytes(files), from: source.kind === 'url' ? networkOf(source.base) : 'node' };
    }
    case 'verify-model':
      // A later step compares them.
      if (act.isDetached === true) return undefined;
      return { bytes: totalBytes(act.args.files), from: 'staged' };
    default:
      return undefined;
  }
}

/** Addresses and names that exist only in a local network. */
const localHost =
  /^(?:10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.|^\[(?:fe80|f[cd])|^[^.[]+$|\.(?:lan|local|internal|home\.arpa)$/i;

function networkOf(url: string): 'uplink' | 'lan' {
  const host = /^https?:\/\/(?:[^/?#@]*@)?(\[[^\]]+\]|[^/?#:]+)/i.exec(url)?.[1] ?? '';
  return localHost.test(host) ? 'lan' : 'uplink';
}
