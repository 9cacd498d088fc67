/**
 * Saves the command line program from `npm run build` for test/cli/yesterday.slow.test.ts, as a single file that Node
 * can unpack. Leaves out files that a controller does not need: tests and examples in packages, and the library.
 *
 * npm run build && node scripts/keep-build.mjs
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const archive = join(root, 'test/yesterday/build.json.br');

/** The packages that the bundle does not contain. */
const packages = ['ssh2', 'asn1', 'bcrypt-pbkdf', 'safer-buffer', 'tweetnacl'].map((name) => `node_modules/${name}`);
const kept = ['dist/cli', 'dist/doorman/doorman.mjs', 'playbooks', 'schemas', 'package.json', ...packages];
const unused = /^node_modules\/[^/]+\/(?:test|tests|examples|util)\/|\.min\.js$|\.eslintrc\.js$/;

const filesBelow = (path) => {
  const entries = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath ?? one.path, one.name).slice(root.length));
};

const paths = kept
  .flatMap((path) => (/\.[a-z]+$/.test(path) ? [path] : filesBelow(path)))
  .filter((path) => !path.startsWith('node_modules/') || /(?:\.js|\.json|\/LICENSE[^/]*)$/.test(path))
  .filter((path) => !unused.test(path))
  .sort();
const text = JSON.stringify(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
};
const bytes = brotliCompressSync(text, { params });
writeFileSync(archive, bytes);
process.stdout.write(`${paths.length} files in ${bytes.length} bytes: ${archive.slice(root.length)}\n`);
