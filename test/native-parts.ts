import { nativeFile } from '../src/native/program.ts';

/** Without the compiled files, nothing is tested that needs them, unless `MESHWRIGHT_NATIVE=required`. */
export const nativePartsTested =
  process.env['MESHWRIGHT_NATIVE'] === 'required' || nativeFile('simulated-verbs.so', process) !== undefined;
