import type { MacCase } from './mac-case.ts';
import { nextToEthernet } from './next-to-ethernet.ts';

const specifications = 'Apple, Mac Studio (2025) technical specifications: M3 Ultra';

/** Mac Studio with M3 Ultra. Which of the numbers 2 to 6 are the two in front was never published. */
export const macStudioM3Ultra: MacCase = {
  models: ['Mac15,14'],
  faces: [
    { side: 'back', sockets: 4, source: specifications },
    { side: 'front', sockets: 2, source: specifications },
  ],
  places: [nextToEthernet],
};
