import { nodeName } from '../model/node.ts';
import type { MacState, ReceptacleState } from './model/mac.ts';
import { emptyPreferences } from './model/network-preferences.ts';
import { seededBytes, seededText, seededUuid } from './seed.ts';

/** No node of a file can be called so: dots are not allowed there. */
const nameOf = (index: number): string => `outside.${index}`;

function strangeReceptacle(receptacle: ReceptacleState, words: readonly (string | number)[]): ReceptacleState {
  const own = [...words, receptacle.bus] as const;
  return {
    ...receptacle,
    domainUuid: seededUuid([...own, 'domain']),
    switchUid: `05AC${seededText([...words, 'switch'], '0123456789ABCDEF', 11)}${receptacle.bus}`,
    ipServiceUuid: seededUuid([...own, 'ip-service']),
    rdmaServiceUuid: seededUuid([...own, 'rdma-service']),
    macAddress: `36:${[...seededBytes([...own, 'mac']).subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`,
  };
}

/**
 * A Mac of the same model that belongs to somebody else: no file names it, RDMA is off, and its receptacles have no
 * network service. It follows from the Mac that it is like and its number.
 */
export function strangerLike(mac: MacState, index: number): MacState {
  const words = [mac.hardwareUuid, 'stranger', index] as const;
  const hardwareUuid = seededUuid([...words, 'hardware']);
  return {
    ...mac,
    name: nodeName(nameOf(index)),
    serial: seededText([...words, 'serial'], 'CDFGHJKLMNPQRTVWXY0234679', 10),
    hardwareUuid,
    receptacles: mac.receptacles.map((receptacle) => strangeReceptacle(receptacle, words)),
    isRdmaEnabled: false,
    preferences: emptyPreferences(nameOf(index), seededUuid([...words, 'set'])),
    live: { addresses: {} },
  };
}
