/**
 * Makes the modules of `src` that are generated and not in git: each when it is missing, or when what it is made from has
 * changed. Every script that reads the sources runs this first; where nothing has changed it takes no time.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './make-node-scripts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const printed = [
  ...['ask', 'bench', 'cables', 'diagnostics', 'doctor', 'drift', 'endpoints', 'enroll', 'exec', 'facts', 'fit'],
  ...['forget', 'graph', 'history', 'lease', 'logs', 'plan', 'report', 'secrets', 'sim', 'status', 'unlock'],
];

const validators = async (schemas) => (await import('./make-validators.mjs')).validators(schemas);

/** Module to the schemas that it is made from, and how. Few verbs read a playbook or a journal: their validators are modules of their own. */
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
};

const makers = [
  'scripts/make-sources.mjs',
  'scripts/make-types.mjs',
  'scripts/make-validators.mjs',
  'package-lock.json',
];

process.chdir(root);
for (const [path, [schemas, make]] of Object.entries(modules)) {
  const hash = createHash('sha256');
  for (const source of [...makers, ...schemas.map((name) => `schemas/${name}.schema.json`)])
    hash.update(readFileSync(source));
  const head = `// Made by scripts/make-sources.mjs, never edited by hand; from ${hash.digest('hex').slice(0, 16)}.`;
  if (existsSync(path) && readFileSync(path, 'utf8').startsWith(`${head}\n`)) continue;
  // Another run may be making it too: a reader sees the old module or the new one.
  const whole = join(root, `${path}.${process.pid}`);
  writeFileSync(whole, `${head}\n${await make(schemas)}`);
  renameSync(whole, path);
}
