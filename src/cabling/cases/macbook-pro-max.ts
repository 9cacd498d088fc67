import type { MacCase } from './mac-case.ts';

const specifications = 'Apple, MacBook Pro technical specifications, 14 and 16 inches with M4 Max and M5 Max';

/** MacBook Pro with M4 Max and M5 Max. Which number is the one on the right was never published. */
export const macbookProMax: MacCase = {
  models: ['Mac16,5', 'Mac16,6', 'Mac17,6', 'Mac17,7'],
  faces: [
    { side: 'left', sockets: 2, source: specifications },
    { side: 'right', sockets: 1, source: specifications },
  ],
  places: [],
};
