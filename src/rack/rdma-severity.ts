import { needsRdma } from '../desired/layouts.ts';
import type { Severity } from '../diagnostics/code-entry.ts';
import type { NodeName } from '../model/node.ts';
import type { Examination } from './examination.ts';

/** How bad missing RDMA is on these nodes: where nothing in the file needs it, it is only worth knowing. */
export const rdmaSeverity = ({ desired }: Examination, nodes: readonly NodeName[]): Severity =>
  nodes.some((node) => needsRdma(desired, node)) ? 'error' : 'notice';
