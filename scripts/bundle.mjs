/**
 * Puts the command and the library into a few files. A short command spent as much time on opening some three hundred
 * modules as Node needs to start.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';

/** Stays a package of its own: it loads native parts by their place, and only when a node is reached. */
const external = [/^node:/, 'ssh2'];

/** What a file finds from its own place it still finds from the bundle. */
const keepPlaces = (compiled) => ({
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(compiled) || !code.includes('import.meta.url')) return null;
    const place = `require('node:path').join(__dirname, ${JSON.stringify(relative(join(compiled, 'cli'), id))})`;
    return code.replaceAll('import.meta.url', `require('node:url').pathToFileURL(${place}).href`);
  },
});

/** Its transports would start threads that load other programs: what we bundle writes its lines itself. */
const withoutTransports = {
  name: 'without-transports',
  load: (id) =>
    /[\\/]node_modules[\\/]pino[\\/]lib[\\/]transport\.js$/.test(id) ? 'module.exports = undefined;' : null,
};

/** `…/node_modules/yaml/dist/index.js` → `…/node_modules/yaml`. */
const packageFolder = (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0];

/** The names and licences of the packages whose text is in the bundle, as those licences ask for. */
function licences(ids) {
  const folders = [...new Set(ids.map(packageFolder).filter((folder) => folder !== undefined))].sort();
  return folders
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((one) => /^licen[cs]e([.-].+)?$/i.test(one));
      if (file === undefined) throw new Error(`${name} cannot be bundled: it has no licence file`);
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(72)}\n\n`);
}

/**
 * Bundles the command and the library, which share most of their code, from a compiled tree into `made/cli`. The files are
 * CommonJS: only for that can Node 20 keep compiled code (src/cli/compiled-code.ts).
 */
export async function bundleCommandAndLibrary(compiled, made) {
  const cli = join(made, 'cli');
  const bundle = await rolldown({
    // Parts are named by their path in this folder, so that equal sources give equal bytes.
    cwd: compiled,
    input: { main: join(compiled, 'cli', 'main.js'), index: join(compiled, 'index.js') },
    platform: 'node',
    external,
    plugins: [keepPlaces(compiled), withoutTransports],
    onLog: (_level, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await bundle.write({
    dir: cli,
    format: 'cjs',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        // In the file of the command it would start the command wherever a part needs the version.
        { name: 'version', test: /[\\/]cli[\\/]version\.js$/ },
        // Small, and shared by many commands: one file instead of five.
        { name: 'shared', test: /[\\/](?:given|memory-lines|nodes-text|receptacle-sight|trees)\.js$/ },
      ],
    },
    // Code that is kept has no way to import.
    dynamicImportInCjs: false,
    comments: false,
  });
  await bundle.close();
  writeFileSync(join(cli, 'package.json'), '{ "type": "commonjs" }\n');
  const ids = output.flatMap((chunk) => chunk.moduleIds ?? []);
  writeFileSync(join(cli, 'third-party-licences.txt'), licences(ids));
}

/** Puts the gateway into one file of its own: it runs on a node, where nothing else of meshwright is. */
export async function bundleGateway(compiled, made) {
  const folder = join(compiled, 'gateway');
  const bundle = await rolldown({
    input: join(folder, 'main.js'),
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
  if (others.length > 0 || strange.length > 0) throw new Error('the gateway is not one file with node: imports alone');
  // Equal sources give equal bytes; the mark of a part would name the folder of this very build.
  const code = chunk.code.replaceAll(/^\/\/(?:#(?:end)?region.*| .*\.js)\n/gm, '');
  const published = join(made, 'doorman');
  mkdirSync(published, { recursive: true });
  writeFileSync(join(published, 'doorman.mjs'), `${code}/*\n${licences(chunk.moduleIds)}*/\n`);
}
