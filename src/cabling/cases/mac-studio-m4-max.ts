import type { CasePlace, MacCase } from './mac-case.ts';
import { nextToEthernet } from './next-to-ethernet.ts';

const specifications = 'Apple, Mac Studio (2025) technical specifications: M4 Max, front ports are USB-C only';

const back = (receptacle: number): CasePlace => ({ receptacle, side: 'back', words: 'back', source: specifications });

/** Mac Studio with M4 Max: every Thunderbolt socket is on the back, in which order was never published. */
export const macStudioM4Max: MacCase = {
  models: ['Mac16,9'],
  faces: [{ side: 'back', sockets: 4, source: specifications }],
  places: [nextToEthernet, back(2), back(3), back(4)],
};
