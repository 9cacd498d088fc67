import type { CasePlace, MacCase } from './mac-case.ts';

const specifications = 'Apple, Mac mini (2024) technical specifications: front ports are USB-C only';

const back = (receptacle: number): CasePlace => ({ receptacle, side: 'back', words: 'back', source: specifications });

/** Mac mini with M4 and with M4 Pro: every Thunderbolt socket is on the back, in which order was never published. */
export const macMini2024: MacCase = {
  models: ['Mac16,10', 'Mac16,11'],
  faces: [{ side: 'back', sockets: 3, source: specifications }],
  places: [back(1), back(2), back(3)],
};
