/**
 * Bundles the command and the library into a few files. Otherwise a short command spends as much time opening about 300
 * modules as Node needs to start.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** ssh2 remains a separate package: it loads native modules by their path, and only once a node is contacted. */
const external = [/^node:/, 'ssh2'];

/** Rewrites paths relative to a module so that they are still valid in the bundle. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(src) || !code.includes('import.meta.url')) return null;
    const module = relative(join(src, 'cli'), id).replace(/\.ts$/, '.js');
    const place = `require('node:path').join(__dirname, ${JSON.stringify(module)})`;
    return code.replaceAll('import.meta.url', `require('node:url').pathToFileURL(${place}).href`);
  },
};

/** pino's transports would start threads that load other files. The bundled code writes its log lines itself. */
const withoutTransports = {
  name: 'without-transports',
  load: (id) =>
    /[\\/]node_modules[\\/]pino[\\/]lib[\\/]transport\.js$/.test(id) ? 'module.exports = undefined;' : null,
};

/** Node reads a file of ASCII text in a third of the time. Only strings, templates and patterns have other characters. */
const ascii = (code) =>
  code.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `…/node_modules/yaml/dist/index.js` → `…/node_modules/yaml`. */
const packageFolder = (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0];

/** Names and licenses of the bundled packages, which those licenses require. */
function licences(ids) {
  const folders = [...new Set(ids.map(packageFolder).filter((folder) => folder !== undefined))].sort();
  return folders
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((one) => /^licen[cs]e([.-].+)?$/i.test(one));
      if (file === undefined) throw new Error(`${name} cannot be bundled: it has no license file`);
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(72)}\n\n`);
}

/**
 * Bundles the command and the library, which share most of their code, into `made/cli`. The files are CommonJS, because
 * Node 20 can cache compiled code only for CommonJS (src/cli/compiled-code.ts).
 */
export async function bundleCommandAndLibrary(made) {
  const cli = join(made, 'cli');
  const bundle = await rolldown({
    // Chunks are named by their path in this folder, so that equal sources give equal bytes.
    cwd: src,
    input: { main: join(src, 'cli', 'main.ts'), index: join(src, 'index.ts') },
    platform: 'node',
    external,
    plugins: [keepPlaces, withoutTransports],
    onLog: (_level, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        // If this module were in the command's file, every chunk that needs the version would start the command.
        { name: 'version', test: /[\\/]cli[\\/]version\.ts$/ },
        // These modules are small and shared by many commands: one file instead of five.
        { name: 'shared', test: /[\\/](?:given|memory-lines|nodes-text|receptacle-sight|trees)\.ts$/ },
      ],
    },
    // Cached code cannot use import().
    dynamicImportInCjs: false,
    comments: false,
  });
  await bundle.close();
  mkdirSync(cli, { recursive: true });
  for (const { fileName, code } of output) writeFileSync(join(cli, fileName), ascii(code));
  writeFileSync(join(cli, 'package.json'), '{ "type": "commonjs" }\n');
  const ids = output.flatMap((chunk) => chunk.moduleIds ?? []);
  writeFileSync(join(cli, 'third-party-licences.txt'), licences(ids));
}

/** Bundles the gateway into a single file, because it runs on a node where no other code of meshwright exists. */
export async function bundleGateway(made) {
  const bundle = await rolldown({
    cwd: src,
    input: join(src, 'gateway', 'main.ts'),
    platform: 'node',
    external: [/^node:/],
    plugins: [withoutTransports],
    onLog: (_level, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const [chunk, ...others] = output;
  const strange = chunk.imports.filter((name) => !name.startsWith('node:'));
  if (others.length > 0 || strange.length > 0) throw new Error('the gateway is not one file with only node: imports');
  // The bundler's comments with the names of modules are of no use on a node.
  const code = chunk.code.replaceAll(/^\/\/(?:#(?:end)?region.*| .*\.[jt]s)\n/gm, '');
  const published = join(made, 'gateway');
  mkdirSync(published, { recursive: true });
  writeFileSync(join(published, 'gateway.mjs'), `${code}/*\n${licences(chunk.moduleIds)}*/\n`);
}
