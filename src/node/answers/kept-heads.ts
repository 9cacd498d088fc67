/** The key in the head line `job KEY` of a kept record. */
export const keyOfJobHead = (head: string): string | undefined => /^job ([A-Za-z0-9._-]{1,255})$/.exec(head)?.[1];

/** Whether a head line begins the record of the lease. */
export const isLeaseHead = (head: string): boolean => head === 'lease';

/** Whether a head line begins what the keeper left. */
export const isKeeperHead = (head: string): boolean => head === 'keeper';

/** Whether a head line begins what says that the node is to be left alone. */
export const isHoldHead = (head: string): boolean => head === 'hold';

/** The state in the head line `rollback STATE` of a change of the network that nobody has confirmed. */
export const stateOfRollbackHead = (head: string): 'pending' | 'rolling' | undefined =>
  head === 'rollback pending' ? 'pending' : head === 'rollback rolling' ? 'rolling' : undefined;

/** The key in the head line `baseline KEY` of a value from before the first change. */
export const keyOfBaselineHead = (head: string): string | undefined => /^baseline ([a-z-]{1,64})$/.exec(head)?.[1];

/** The label in the head line `foreign LABEL` of a daemon that was stopped. */
export const labelOfForeignHead = (head: string): string | undefined =>
  /^foreign ([A-Za-z0-9._-]{1,255})$/.exec(head)?.[1];

/** The exit in the head line `WORD EXIT` of a list of lines that a tool printed; `undefined` for another head. */
export function exitOfListHead(head: string, word: string): number | undefined {
  const [, found, code = ''] = /^([a-z]+) (\d{1,3})$/.exec(head) ?? [];
  return found === word ? Number(code) : undefined;
}
