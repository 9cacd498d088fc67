/**
 * Imports every module of the pure folders from a build in which clock, randomness, timers, process and console throw.
 * Prints the number of modules. Packages are loaded before: what they look at while loading is theirs.
 */
import { readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, folders, packages] = process.argv.slice(2);
const modules = folders
  .split(',')
  .flatMap((folder) => readdirSync(join(dist, folder), { recursive: true }).map((name) => join(dist, folder, name)))
  .filter((file) => file.endsWith('.js'));
for (const name of packages.split(',')) await import(name);

const refuse = (name) => () => {
  throw new Error(`a pure module used ${name}`);
};
const RealDate = Date;
globalThis.Date = class extends RealDate {
  static now = refuse('Date.now');
  constructor(...words) {
    if (words.length === 0) refuse('new Date()')();
    super(...words);
  }
};
Math.random = refuse('Math.random');
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch'])
  globalThis[name] = refuse(name);
for (const name of ['process', 'console', 'performance', 'crypto']) {
  Object.defineProperty(globalThis, name, { get: refuse(name) });
}

const imported = await Promise.all(modules.map((file) => import(pathToFileURL(file).href)));
writeSync(1, `${imported.length}\n`);
