import type { Severity } from '../diagnostics/code-entry.ts';
import type { Examination } from './examination.ts';

/**
 * How bad missing RDMA is. With `rdma: required` every cabled node must have it. With `auto` nothing in the file needs
 * it yet, so it is only worth knowing.
 */
export const rdmaSeverity = ({ desired }: Examination): Severity =>
  desired.thunderbolt.rdma === 'required' ? 'error' : 'notice';
