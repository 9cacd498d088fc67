/**
 * Lists every script that can run as root in `docs/security.md`, between two markers: those with a name in the registry
 * and all others, each with the first sentence of its docs.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';
import { isScript } from './layers.cjs';
import { writeGeneratedPart } from './written-page.mjs';

const page = 'docs/security.md';
const registry = 'src/engine/scripts/registry.ts';
const settingsFolder = 'src/rack/settings';

/** Scripts without a name in plans. */
const beside = [
  ['take the lease', 'src/engine/scripts/take-lease.sh', 'takeLeaseScript'],
  ['take over a lease', 'src/engine/scripts/steal-lease.sh', 'stealLeaseScript'],
  ['renew the lease', 'src/engine/scripts/renew-lease.sh', 'renewLeaseScript'],
  ['give the lease back', 'src/engine/scripts/release-lease.sh', 'releaseLeaseScript'],
  ['put a file', 'src/node/put-file.ts', 'putBody'],
  ['change the network', 'src/rack/network/transaction/change-network.sh', 'transactionBody'],
  ['confirm a network change', 'src/rack/network/transaction/confirm-change.sh', 'confirmBody'],
  ['begin a job', 'src/engine/scripts/launch-job.sh', 'launchBody'],
  ['restart or switch off', 'src/rack/boot/restart-script.ts', 'restartBody'],
  ['keep the values of before', 'src/rack/uninstall/baseline-setting.ts', 'recordBaselineLines'],
  ['run a rank of `launch` as another account', 'src/rack/placement/launched-program-script.ts', 'launchRankScript'],
  ['sample a hung rank, for its evidence', 'src/rack/placement/observed/rank-log-script.ts', 'rankStackScript'],
  ['measure the power, for `bench`', 'src/engine/scripts/power-sample.ts', 'powerScript'],
];

/** Daemons that launchd runs as root. */
const daemons = [
  ['keeper', 'src/rack/keeper/program-script.ts', 'keepText'],
  ['roll a network change back', 'src/rack/network/transaction/transaction-script.ts', 'rollText'],
];

const parsed = (file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true);

/** The first sentence of a `.sh` file's header or of an export's docs. */
function firstSentence(file, name) {
  if (file.endsWith('.sh')) {
    const [header] = readFileSync(file, 'utf8').split('\n#\n');
    return sentenceOf(header.replaceAll(/^# /gm, ''));
  }
  const statement = parsed(file).statements.find((one) => namesOf(one).includes(name));
  const [docs] = statement === undefined ? [] : (ts.getJSDocCommentsAndTags(statement) ?? []);
  const text = ts.getTextOfJSDocComment(docs?.comment);
  if (!text) throw new Error(`${file}: ${name} has no docs`);
  return sentenceOf(text);
}

function sentenceOf(lines) {
  const text = lines.replaceAll(/\s+/g, ' ').trim();
  return (/^.*?[.:;](?= |$)/.exec(text)?.[0] ?? text).replace(/[:;]$/, '.').replaceAll('|', '\\|');
}

const namesOf = (statement) => {
  if (ts.isFunctionDeclaration(statement)) return [statement.name?.text];
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations.map(({ name }) => name.text) : [];
};

/** The source file of each import in the registry. */
function importsOf(source) {
  const found = new Map();
  for (const one of source.statements.filter(ts.isImportDeclaration)) {
    const file = posix.join(posix.dirname(registry), one.moduleSpecifier.text);
    for (const { name } of one.importClause?.namedBindings?.elements ?? []) found.set(name.text, file);
  }
  return found;
}

/** The entries of `scripts` or `jobs`: name, file and export. */
function entriesOf(source, table) {
  const imports = importsOf(source);
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((one) => [...one.declarationList.declarations]);
  const { initializer } = declarations.find(({ name }) => name.text === table);
  return initializer.properties.flatMap((entry) => {
    if (ts.isSpreadAssignment(entry)) return settingEntries();
    const { name, initializer: made } = entry;
    const file = imports.get(made.text);
    // Links to the script's own file if there is one.
    const text = posix.join(posix.dirname(file), `${name.text}.sh`);
    return [[`\`${name.text}\``, existsSync(text) ? text : file, made.text]];
  });
}

/** The settings' scripts: each setting names its script, which is either a file or inline text. */
function settingEntries() {
  const files = readdirSync(settingsFolder).map((name) => posix.join(settingsFolder, name));
  return files.sort().flatMap((file) => {
    const found = readFileSync(file, 'utf8').matchAll(/script: \{\s+name: '([a-z-]+)',\s+text: (\w*)/g);
    return [...found].map(([, name, of]) => {
      const text = posix.join(settingsFolder, `${name}.sh`);
      return [`\`${name}\``, existsSync(text) ? text : file, of];
    });
  });
}

const rowsOf = (title, entries) => [
  `| ${title} | what it does |`,
  '|---|---|',
  ...entries.map(([name, file, of]) => `| [${name}](../${file}) | ${firstSentence(file, of)} |`),
];

/** Every file that generates shell text for a node. */
const scriptFiles = () =>
  readdirSync('src', { recursive: true })
    .map((name) => posix.join('src', name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith('.ts') && path !== registry && isScript(path));

const source = parsed(registry);
const named = [...entriesOf(source, 'scripts'), ...entriesOf(source, 'jobs'), ...beside].map(([, , of]) => of);
for (const file of scriptFiles()) {
  const bodies = parsed(file).statements.flatMap(namesOf);
  const missing = bodies.find((name) => /(?:Body|LeaseScript|powerScript)$/.test(name ?? '') && !named.includes(name));
  if (missing !== undefined) throw new Error(`${file}: ${missing} is missing in the list of ${page}`);
}
const tables = [
  rowsOf('in a plan by name', entriesOf(source, 'scripts')),
  rowsOf('a job, which goes on without a connection', entriesOf(source, 'jobs')),
  rowsOf('beside them', beside),
  rowsOf('a daemon of root', daemons),
];
writeGeneratedPart(page, 'the scripts of src', tables.map((rows) => rows.join('\n')).join('\n\n'));
