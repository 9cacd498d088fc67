import type { TreeFile } from '../../model/node-script.ts';
import type { Step } from '../../model/step.ts';

/**
 * Where a transfer's bytes come from: this computer, a server, or a disk of the node itself. `staged`: the bytes are
 * already on the node, and the step only compares them.
 */
export type TransferSource = 'controller' | 'server' | 'node' | 'staged';

/** The bytes that a step brings to its node or compares there. */
export interface Transfer {
  readonly bytes: number;
  readonly from: TransferSource;
  /** The server's host name, if one sends the bytes. */
  readonly host?: string;
}

const sizeOf = (files: readonly TreeFile[]): number => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The transfer of a step; undefined for steps that transfer nothing or report no bytes. */
export function transferOf({ act }: Pick<Step, 'act'>): Transfer | undefined {
  if (act.kind === 'send') return { bytes: act.sizeBytes, from: 'controller' };
  if (act.kind !== 'job') return undefined;
  switch (act.name) {
    case 'fetch-model': {
      const { files, source } = act.args;
      const bytes = sizeOf(files);
      return source.kind === 'folder' ? { bytes, from: 'node' } : { bytes, from: 'server', ...hostIn(source.base) };
    }
    case 'verify-model':
      return { bytes: sizeOf(act.args.files), from: 'staged' };
    default:
      return undefined;
  }
}

/** The host name in a URL, without user and port. */
function hostIn(url: string): { readonly host?: string } {
  const host = /^https?:\/\/(?:[^/?#@]*@)?(\[[^\]]+\]|[^/?#:]+)/i.exec(url)?.[1];
  return host === undefined ? {} : { host };
}
