import { digest } from '../../../model/digest.ts';
import type { PlacementMember } from '../../../model/facts/fact-values.ts';
import { isUuid, wholeNumber } from '../../../node/answers/grammar.ts';

/** What a member left on its node: its record, and how often it was started. */
export type PlacementRecord = Omit<PlacementMember, 'isListening' | 'isMeeting' | 'token' | 'said' | 'golden'>;

/** The record of a member from the lines of its file; `undefined` when one that must be there is missing or strange. */
export function memberOf(fields: Readonly<Record<string, string>>): PlacementRecord | undefined {
  const { driver, tokenCountPointer, requests, declared } = fields;
  // A record of an older meshwright has none of them, nor a driver.
  const { placement = '', tokenPath = '', tokenPointer = '', startedIn = '', meetPort = '0', logPattern = '' } = fields;
  const number = (key: string): number => wholeNumber(fields[key]) ?? Number.NaN;
  const record = {
    placement,
    digest: digest(fields['digest'] ?? ''),
    generation: number('generation'),
    rank: number('rank'),
    size: number('size'),
    port: number('port'),
    meetPort: wholeNumber(meetPort) ?? Number.NaN,
    endpointPort: number('endpointPort'),
    tokenPath,
    tokenPointer,
    tokenDeadlineMs: number('tokenDeadlineMs'),
    logPattern,
    startedIn,
    starts: number('starts'),
    ...(driver === undefined ? {} : { driver }),
    ...(tokenCountPointer === undefined ? {} : { tokenCountPointer }),
    ...(requests === 'one' ? { requests: 'one' as const } : {}),
    ...(declared === undefined ? {} : { declared }),
  };
  const isWhole = Object.values(record).every((value) => typeof value !== 'number' || !Number.isNaN(value));
  const isInForm =
    /^[0-9a-f]{64}$/.test(record.digest) &&
    /^\/[\x21-\x7e]*$/.test(tokenPath) &&
    /^(?:\/.*)?$/.test(tokenPointer) &&
    /^(?:\/.*)?$/.test(tokenCountPointer ?? '') &&
    (startedIn === '' || isUuid(startedIn));
  const isInRange =
    record.rank < record.size &&
    isPort(record.port) &&
    isPort(record.meetPort) &&
    record.endpointPort > 0 &&
    isPort(record.endpointPort);
  return isWhole && isInForm && isInRange ? record : undefined;
}

/** 0 stands for none. */
const isPort = (port: number): boolean => port < 65_536;
