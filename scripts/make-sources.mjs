/**
 * Generates the modules in `src` that are not in git. Each module is written if it is missing or if its inputs changed.
 * Every script that reads the sources runs this first; without changes it takes almost no time.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './make-node-scripts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The schemas of files and streams, and then those of the documents that commands print. */
const others = ['cluster', 'event', 'journal', 'lock', 'log-line', 'playbook'];
const printed = readdirSync(join(root, 'schemas'))
  .map((name) => name.replace('.schema.json', ''))
  .filter((name) => !others.includes(name))
  .sort();

const validators = async (schemas) => (await import('./make-validators.mjs')).validators(schemas);

const known = ['exo', 'mlx-lm', 'models', 'pairs', 'speeds'].map((name) => `src/drivers/known/${name}.yaml`);

/**
 * Each generated module, with its schemas or tables and its generator. Few commands read a playbook or a journal, so
 * their validators are separate modules.
 */
const modules = {
  'src/model/cluster-spec.generated.ts': [['cluster'], async () => (await import('./make-types.mjs')).clusterTypes()],
  'src/model/documents.generated.ts': [
    printed,
    async (names) => (await import('./make-types.mjs')).documentTypes(names),
  ],
  'src/model/files.generated.ts': [
    ['journal', 'lock', 'playbook'],
    async (names) => (await import('./make-types.mjs')).fileTypes(names),
  ],
  'src/config/validators.generated.ts': [['cluster', 'lock'], validators],
  'src/engine/playbooks/validator.generated.ts': [['playbook'], validators],
  'src/apply/journal/journal-validator.generated.ts': [['journal'], validators],
  'src/drivers/known/tables.generated.ts': [known, async (paths) => (await import('./make-tables.mjs')).tables(paths)],
};

const makers = [
  'scripts/make-sources.mjs',
  'scripts/make-tables.mjs',
  'scripts/make-types.mjs',
  'scripts/make-validators.mjs',
  'package-lock.json',
];

process.chdir(root);
for (const [path, [names, make]] of Object.entries(modules)) {
  const hash = createHash('sha256');
  const inputs = names.map((name) => (name.endsWith('.yaml') ? name : `schemas/${name}.schema.json`));
  for (const source of [...makers, ...inputs]) hash.update(readFileSync(source));
  const head = `// Made by scripts/make-sources.mjs, never edited by hand; from ${hash.digest('hex').slice(0, 16)}.`;
  if (existsSync(path) && readFileSync(path, 'utf8').startsWith(`${head}\n`)) continue;
  // Another run may be writing the same module. A reader sees either the old or the new version.
  const whole = join(root, `${path}.${process.pid}`);
  writeFileSync(whole, `${head}\n${await make(names)}`);
  renameSync(whole, path);
}
