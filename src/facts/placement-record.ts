import { digest } from '../model/digest.ts';
import type { PlacementMember } from '../model/fact-values.ts';
import { isUuid, wholeNumber } from './grammar.ts';

/** What a member left on its node: its record, and how often it was started. */
export type PlacementRecord = Omit<PlacementMember, 'isListening' | 'token'>;

/** The record of a member from the lines of its file; `undefined` when one that must be there is missing or strange. */
export function memberOf(fields: Readonly<Record<string, string>>): PlacementRecord | undefined {
  const { placement = '', tokenPath = '', tokenPointer = '', startedIn = '' } = fields;
  const number = (key: string): number => wholeNumber(fields[key]) ?? Number.NaN;
  const record = {
    placement,
    digest: digest(fields['digest'] ?? ''),
    generation: number('generation'),
    rank: number('rank'),
    size: number('size'),
    port: number('port'),
    endpointPort: number('endpointPort'),
    tokenPath,
    tokenPointer,
    tokenDeadlineMs: number('tokenDeadlineMs'),
    startedIn,
    starts: number('starts'),
  };
  const isWhole = Object.values(record).every((value) => typeof value !== 'number' || !Number.isNaN(value));
  const isInForm =
    /^[0-9a-f]{64}$/.test(record.digest) &&
    /^\/[\x21-\x7e]*$/.test(tokenPath) &&
    /^(?:\/.*)?$/.test(tokenPointer) &&
    (startedIn === '' || isUuid(startedIn));
  const isInRange = record.rank < record.size && isPort(record.port) && isPort(record.endpointPort);
  return isWhole && isInForm && isInRange ? record : undefined;
}

const isPort = (port: number): boolean => port > 0 && port < 65_536;
