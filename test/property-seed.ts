import fc from 'fast-check';
import { sampleSeed } from './sample.ts';

// In `.ci/run` a property tries the same cases each time it runs on a commit; elsewhere new ones each time.
if (process.env['MESHWRIGHT_COMMIT'] !== undefined) fc.configureGlobal({ seed: sampleSeed });
