import fc from 'fast-check';
import { sampleSeed } from './sample.ts';

// In `.ci/run`, a property test tries the same cases in every run of a commit; elsewhere, each run tries new cases.
if (process.env['MESHWRIGHT_COMMIT'] !== undefined) fc.configureGlobal({ seed: sampleSeed });
