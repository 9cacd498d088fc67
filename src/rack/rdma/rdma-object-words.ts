import type { RdmaObjects } from '../../model/facts/rdma.ts';

const counted = (count: number, noun: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];

/** `2 protection domains and 1 queue pair`; `none` without either. */
export const rdmaObjectWords = ({ domains, queuePairs }: RdmaObjects): string =>
  [...counted(domains, 'protection domain'), ...counted(queuePairs, 'queue pair')].join(' and ') || 'none';
