import type { UnknownReason } from '../model/known.ts';

/** Each reason in words that stand after the names of the facts. */
export const reasonWords: Readonly<Record<UnknownReason, string>> = {
  'tool-missing': 'the tool is not there',
  'no-privilege': 'this user may not read it',
  'timed-out': 'no answer in time',
  failed: 'the tool failed',
  empty: 'the tool printed nothing',
  garbled: 'the answer makes no sense',
  truncated: 'the answer was cut off',
  busy: 'left alone while a program opens or holds RDMA',
  'not-asked': 'not asked',
  unreachable: 'the node was not reached',
};
