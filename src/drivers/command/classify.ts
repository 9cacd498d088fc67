import type { FailureSignature } from '../contract/driver.ts';

/** What dyld and launchd themselves say, whatever the program. */
export const signatures: readonly FailureSignature[] = [
  {
    id: 'library-not-loaded',
    pattern: /^dyld\[\d+\]: Library not loaded: /,
    meaning: 'The program needs a library that is not on this Mac.',
    action: 'change-file',
    cure: 'Put the library into the archive, or build the program without it.',
  },
  {
    id: 'address-in-use',
    pattern: /[Aa]ddress already in use|EADDRINUSE/,
    meaning: 'Something else listens on its port.',
    action: 'change-file',
    cure: 'End what listens there, or give the placement another port.',
  },
];
