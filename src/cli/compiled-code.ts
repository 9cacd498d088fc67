import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { given } from '../model/given.ts';

/** How Node compiles the text of a CommonJS file. */
interface Compiles {
  _compile(this: Module, text: string, file: string, ...rest: unknown[]): unknown;
}

/**
 * Keeps what V8 compiled of the bundled command in `compiled` beside it, where the bundle belongs to this account:
 * compiling took a third of a short command. Node 22 can do this by itself (`module.enableCompileCache`), Node 20 cannot.
 *
 * A file is kept under its own name, which holds a digest of its content. V8 refuses what another version of it made.
 */
export function keepCompiledCode(bundle: string): void {
  const kept = join(bundle, 'compiled', `${process.version}-${process.arch}`);
  const unkept = new Map<string, Script>();
  const modules = Module.prototype as unknown as Compiles;
  const compile = modules._compile;
  modules._compile = function (text, file, ...rest) {
    if (dirname(file) !== bundle) return compile.call(this, text, file, ...rest);
    const place = join(kept, basename(file));
    const cachedData = readKept(place);
    const script = new Script(Module.wrap(text), { filename: file, ...given({ cachedData }) });
    if (script.cachedDataRejected !== false) unkept.set(place, script);
    return script.runInThisContext().call(this.exports, this.exports, createRequire(file), this, file, bundle);
  };
  process.on('exit', () => {
    // What root wrote into a user's package that user could not remove.
    if (unkept.size === 0 || statSync(bundle).uid !== process.getuid?.()) return;
    // After the work, since only functions that ran are compiled.
    for (const [place, script] of unkept) keep(place, script.createCachedData());
  });
}

function readKept(place: string): Buffer | undefined {
  try {
    return readFileSync(place);
  } catch {
    return undefined;
  }
}

/** V8 does not look for damage, so a file gets its name when its content is on the disk. */
function keep(place: string, data: Buffer): void {
  const made = `${place}.${process.pid}`;
  try {
    mkdirSync(dirname(place), { recursive: true });
    const file = openSync(made, 'wx');
    writeSync(file, data);
    fsyncSync(file);
    closeSync(file);
    renameSync(made, place);
  } catch {
    // A full disk, or a folder without leave to write: the next command compiles again.
  }
}
