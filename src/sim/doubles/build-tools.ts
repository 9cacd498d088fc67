import { type NodeFile, toolFile } from '../model/node-files.ts';
import { partText } from './double-files.ts';

export const developerFolder = '/Library/Developer/CommandLineTools';

/** Apple's command line tools, of which only the presence matters, because nothing but CMake starts a compiler. */
const make = "#!/bin/sh\nprintf 'make: this Mac has only the double of CMake\\n' >&2\nexit 2\n";

/** Apple's command line tools, and CMake from Homebrew. A test can delete them. */
export const buildToolFiles = (): readonly NodeFile[] => [
  toolFile(`${developerFolder}/usr/bin/make`, make),
  toolFile('/opt/homebrew/bin/cmake', partText('cmake.pl')),
];
