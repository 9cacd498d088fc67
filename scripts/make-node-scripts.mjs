/**
 * Generates a `scripts.generated.ts` next to the `.sh` files of each folder in `src`: their texts as functions of the
 * variables in their headers (docs/adr/0020-node-scripts-are-files.md), and the texts of the perl programs that are not
 * part of a script. These modules are not in git, so each is written if it is missing or outdated. Needs only Node.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const module = 'scripts.generated.ts';
const paths = readdirSync(join(root, 'src'), { recursive: true }).map((name) => join(root, 'src', name));

const withoutComments = (text) => text.replaceAll(/^ *#.*\n/gm, '');

/** The text of a perl program after those of the files that it uses. */
function perlText(path) {
  const text = readFileSync(path, 'utf8');
  const used = [...text.matchAll(/^# Uses (\S+)$/gm)].map(([, name]) => perlText(join(dirname(path), name)));
  return [...used, withoutComments(text).trim()].join('\n');
}

/** A perl program `peer.pl`, as the shell variable `peer_program`. Its strings have double quotes. */
function program(path) {
  const text = perlText(path);
  if (text.includes("'")) throw new Error(`${relative(root, path)} has a single quote`);
  return `${basename(path, '.pl')}_program='${text}'`;
}

/** The file and all files that it uses, each once and after the files that it uses itself. */
function withUsed(path, found = new Map()) {
  if (path.endsWith('.pl')) return found.set(path, { needs: [], text: program(path) });
  if (found.has(path)) return found;
  const [header] = /^(?:#.*\n)+/.exec(readFileSync(path, 'utf8')) ?? [''];
  if (!/^# Prints/m.test(header)) throw new Error(`${relative(root, path)} does not begin with a header`);
  for (const [, used] of header.matchAll(/^# Uses (\S+)/gm)) withUsed(join(dirname(path), used), found);
  const needs = [...header.matchAll(/^# Needs (\w+)/gm)].map(([, name]) => name);
  return found.set(path, { needs, text: readFileSync(path, 'utf8').slice(header.length).trim() });
}

/** A perl program with a header like a script's is a file on the node, not a part of a script. */
const isProgram = (path) => path.endsWith('.pl') && /^# Prints/m.test(readFileSync(path, 'utf8'));

const nameOf = (path) => basename(path, extname(path)).replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());

/** `publish-tree.sh` as a member of its folder's object. */
function member(path) {
  const all = [...withUsed(path).values()];
  const needs = [...new Set(all.flatMap((one) => one.needs))].map((name) => `'${name}'`);
  const text = JSON.stringify(all.map((one) => one.text).join('\n'));
  return `  ${nameOf(path)}: shellScript<${needs.join(' | ') || 'never'}>(\n    ${text},\n  ),\n`;
}

function moduleOf(folder, scripts) {
  const programs = paths.filter((path) => dirname(path) === folder && isProgram(path)).sort();
  const texts = programs.map((path) => `  ${nameOf(path)}: ${JSON.stringify(`${perlText(path)}\n`)},\n`);
  const from = posix.relative(folder, join(root, 'src/node/shell/shell-script.ts'));
  return [
    '// Generated from the .sh files of this folder by scripts/make-node-scripts.mjs; never edited by hand.',
    `import { shellScript } from '${from.startsWith('.') ? from : `./${from}`}';\n`,
    `/** The scripts of this folder. */\nexport const sh = {\n${scripts.map(member).join('')}};\n`,
    ...(texts.length === 0
      ? []
      : [`/** The perl programs of this folder. */\nexport const pl = {\n${texts.join('')}};\n`]),
  ].join('\n');
}

const folders = new Map();
for (const path of paths.filter((one) => one.endsWith('.sh')).sort()) {
  folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), path]);
}
for (const [folder, scripts] of folders) {
  const [path, text] = [join(folder, module), moduleOf(folder, scripts)];
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
for (const path of paths) if (basename(path) === module && !folders.has(dirname(path))) rmSync(path);
