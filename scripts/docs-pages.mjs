/** The generated pages of `docs`. */
import { readFileSync } from 'node:fs';
import { plainText } from '../src/diagnostics/prose-text.ts';
import { docsAnchor } from '../src/diagnostics/render.ts';
import { exoCard } from '../src/drivers/known/exo-cards.ts';
import { modelType, modelTypes, newestExo, newestMlxLm, oldestMlxLm } from '../src/drivers/known/model-types.ts';
import { exoCommit, mlxTable, publishedSpeeds } from '../src/drivers/known/tables.generated.ts';
import { macModel, macModelsDate } from '../src/model/macs.ts';

const schema = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));

/** A part of the schema with its reference resolved. Keys next to the reference override those of its target. */
function resolved(part) {
  if (part.$ref === undefined) return part;
  const target = schema.$defs[part.$ref.replace('#/$defs/', '')];
  const both = part.description === undefined ? target.description : `${part.description} ${target.description}`;
  return { ...target, ...part, description: both };
}

export function clusterPage() {
  const rows = keyRows(schema, '');
  const sections = Object.keys(schema.properties).map((name) => sectionText(name, rows));
  return `<!-- Generated from schemas/cluster.schema.json by \`npm run generate\`; never edited by hand. -->
# cluster.yaml

${schema.description} The file is a single YAML 1.2 document in UTF-8, at most 512 KiB. Unknown keys are refused.
[cluster.example.yaml](../cluster.example.yaml) is a typical file, [examples](first-rack.md) has smaller racks, and
[cluster.full.yaml](cluster.full.yaml) has every key. To let an editor complete the keys, begin the file with
\`# yaml-language-server: $schema=./schemas/cluster.schema.json\`.

${sections.join('\n')}`;
}

/** One section per top-level key, with a row for each key below it. */
function sectionText(name, rows) {
  const own = rows.filter(
    (row) => row.path === name || row.path.startsWith(`${name}.`) || row.path.startsWith(`${name}[`),
  );
  const [first, ...below] = own;
  const head = `## ${name}\n\n${first.description}${first.required ? ' Required.' : ''}\n`;
  if (below.length === 0) return `${head}\n${firstLine(first)}\n`;
  return `${head}\n${tableText(below)}\n`;
}

function tableText(rows) {
  const lines = rows.map((row) => `| \`${row.path}\` | ${row.value} | ${cell(row)} |`);
  return `| key | value | meaning |\n|---|---|---|\n${lines.join('\n')}`;
}

/** The keys of a part of another schema, which has no references; with `onlyBelow`, without its own keys. */
export function keyTable({ onlyBelow, ...part }) {
  const rows = keyRows(part, '').filter(({ path, value }) => !(path.endsWith('[]') && value === 'text'));
  return tableText(rows.filter(({ path }) => onlyBelow !== true || path.includes('.')));
}

function firstLine(row) {
  return `Value: ${row.value}.`;
}
function cell(row) {
  return escapeCell(`${row.required ? '**Required.** ' : ''}${row.description}${row.example}`);
}
function escapeCell(text) {
  return text.replaceAll('|', '\\|');
}

function keyRows(part, path) {
  return Object.entries(part.properties ?? {}).flatMap(([key, child]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return rowsOf(child, here, (part.required ?? []).includes(key));
  });
}

function rowsOf(unresolved, path, required) {
  const part = resolved(unresolved);
  const row = {
    path,
    required,
    value: escapeCell(valueText(part)),
    description: part.description ?? '',
    example: exampleText(part),
  };
  const items = part.items === undefined ? [] : rowsOf(part.items, `${path}[]`, false);
  const named = typeof part.additionalProperties === 'object' ? namedRows(part, path) : [];
  const forms = (part.oneOf ?? []).map(resolved).flatMap((form) => keyRows(form, path));
  return [row, ...keyRows(part, path), ...forms, ...items, ...named];
}

/** Rows of a map with arbitrary names; the first row describes a valid name. */
function namedRows(part, path) {
  const [first, ...below] = rowsOf(part.additionalProperties, `${path}.<name>`, false);
  const names = part.propertyNames === undefined ? '' : ` \`<name>\`: ${resolved(part.propertyNames).description}`;
  return [{ ...first, description: `${first.description}${names}` }, ...below];
}

/** The allowed values, in a few words. */
function valueText(unresolved) {
  const part = resolved(unresolved);
  if (part.const !== undefined) return `\`${part.const}\``;
  if (part.enum !== undefined) return part.enum.map((word) => `\`${word}\``).join(' or ');
  if (part.oneOf !== undefined) return part.oneOf.map(valueText).join(' or ');
  if (part.type === 'integer')
    return part.minimum === undefined ? 'a whole number' : `${part.minimum} to ${part.maximum}`;
  return { string: 'text', boolean: '`true` or `false`', array: 'list', object: 'map' }[part.type] ?? part.type;
}

function exampleText(part) {
  const example = part.examples?.[0];
  return example === undefined
    ? ''
    : ` Example: \`${typeof example === 'string' ? example : JSON.stringify(example)}\``;
}

/** The page with all codes. */
export function errorsPage(codes) {
  const areas = [...new Set(Object.keys(codes).map((code) => code.split('/')[0]))].sort();
  const parts = areas.map((area) => {
    const own = Object.entries(codes).filter(([code]) => code.startsWith(`${area}/`));
    return `## ${area}\n\n${own.map(([code, entry]) => codeText(code, entry)).join('\n')}`;
  });
  return `<!-- Generated from the registry of codes by \`npm run generate\`; never edited by hand. -->
# Errors, warnings and notices

Every problem that meshwright reports has a code, \`area/slug\`, whose meaning never changes. An error stops the command, a
warning does not, and a notice is only for your information.

${parts.join('\n')}`;
}

function codeText(code, { severity, summary, cause, hint }) {
  return `<a id="${docsAnchor(code).split('#')[1]}"></a>
### \`${code}\` (${severity})

${markdown(summary)} ${markdown(cause)}

What to do: ${markdown(plainText(hint))}
`;
}

/** Outside code, angle brackets would be parsed as HTML. */
function markdown(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('');
}

/** The page with the table of Macs. A question mark follows each value that is only general knowledge. */
export function macsPage(macTable) {
  const sources = [...new Set(macTable.map((row) => row.source))];
  const lines = macTable.map((row) => macRow(row, sources.indexOf(row.source) + 1));
  return `<!-- Generated from src/model/macs.ts by \`npm run generate\`; never edited by hand. -->
# Macs that meshwright knows

As of ${macModelsDate}. RDMA needs Thunderbolt 5 (Apple TN3205). A Mac with Thunderbolt 4 can be a node, but can never use
RDMA. A Mac that is missing here can also be a node: meshwright asks the Mac itself, but cannot check the receptacles in the
file. A question mark means that the value comes from general knowledge and is not confirmed.

| \`hw.model\` | name | memory in GB | Thunderbolt | receptacles | known locations | memory bandwidth in GB/s | first macOS | source |
|---|---|---|---|---|---|---|---|---|
${lines.join('\n')}

## Sources

${sources.map((source, index) => `${index + 1}. ${source}`).join('\n')}
`;
}

function macRow({ ids, ...row }, source) {
  const mark = (column) => (row.unconfirmed?.includes(column) ? ' ?' : '');
  const faces = row.faces.map(({ side, sockets }) => `${sockets} ${side}`).join(', ');
  const places = row.places
    .filter(({ words, side }) => words !== side)
    .map(({ receptacle, words }) => `${receptacle} ${words}`);
  return `| ${[
    ids.map((id) => `\`${id}\``).join(' '),
    macModel(ids[0]).name,
    `${row.memoryGb.join(' to ')}${mark('memory')}`,
    row.thunderbolt,
    `${row.receptacles}${faces === '' ? '' : `: ${faces}`}`,
    places.join('; '),
    `${row.memoryGigabytesPerSecond.join(' or ')}${mark('bandwidth')}`,
    `${row.firstMacos}${mark('first macOS')}`,
    source,
  ].join(' | ')} |`;
}

/** The page with the known models, how each driver splits them, and published sizes and speeds. */
export function knownModelsPage(knownModels) {
  const sources = [
    ...new Set(
      knownModels.flatMap(({ name, source, builds = [] }) => [
        source,
        ...builds.map((build) => build.source),
        ...(publishedSpeeds[name] ?? []).map((speed) => speed.source),
      ]),
    ),
  ];
  const mark = (source) => `[${sources.indexOf(source) + 1}]`;
  const whole = Object.entries(modelTypes).filter(([, { mlx }]) => isWhole(mlx));
  return `<!-- Generated from src/drivers/known by \`npm run generate\`; never edited by hand. -->
# Known models

These are models that owners of Mac clusters run, and what each driver can do with them. \`validate\`, \`plan\` and \`fit\`
refuse by the same data. A model that is missing here can run, too: meshwright then warns that it does not know whether the
runtime can split the model. \`meshwright fit NAME --on MACS\` accepts every name and repository in these tables.

The data covers mlx-lm ${oldestMlxLm} to ${newestMlxLm}, as \`npm run mlx-types\` read the released wheels on ${mlxTable.read}, exo
${newestExo.release}, and exo's main branch at commit ${exoCommit.slice(0, 8)} (\`version: "${newestExo.main}"\`). "From" is the first of
these versions that can do it. With a newer mlx-lm, a split that is missing here is not refused: \`plan\` warns, and \`fit\`
reports the result as unknown. Over how many Macs a model can be split depends on its dimensions; \`fit\` calculates this.

## How each driver splits a model

| model | \`model_type\` | parameters (active) | mlx | exo | llamacpp-rpc | other programs (\`command\`) | source |
|---|---|---|---|---|---|---|---|
${knownModels.map((model) => splitRow(model, mark(model.source))).join('\n')}

- **mlx**: the kinds of sharding, from this version of mlx-lm on.
- **exo**: for models with a card, and for other models whose \`architectures\` exo knows.
- **llamacpp-rpc**: llama.cpp splits every model that it can load by whole layers. "Unknown" means that meshwright does not
  know whether a release can load the model.

## Published sizes

\`fit\` uses these sizes only if you name a model that is not in your file. Otherwise it reads the headers of the model's own
files. A "≈" marks a size that the source rounds to GB.

| model | repository | size in GB | source |
|---|---|---|---|
${knownModels.flatMap((model) => (model.builds ?? []).map((build) => sizeRow(model, build, mark(build.source)))).join('\n')}

## Published speeds

[\`bench\`](bench.md) shows these next to its own figures, if the model and the number of Macs match. They were measured with
different prompts and versions.

| model | Macs | hardware | runtime | transport | generation in tokens/s | prompt in tokens/s | source |
|---|---|---|---|---|---|---|---|
${knownModels
  .flatMap(({ name }) => (publishedSpeeds[name] ?? []).map((speed) => speedRow(speed, mark(speed.source))))
  .join('\n')}

## Kinds of models

The first version that splits models of each \`model_type\` in \`config.json\`. exo's column applies to models without a card.

| \`model_type\` | mlx, tensor | mlx, pipeline | exo, tensor |
|---|---|---|---|
${Object.entries(modelTypes)
  .filter(([, { mlx, exo }]) => !isWhole(mlx) || exo !== undefined)
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, { mlx, exo }]) => {
    const ways =
      mlx === 'unsupported' ? ['not supported', 'not supported'] : [fromText(mlx?.tensor), fromText(mlx?.pipeline)];
    return `| \`${name}\` | ${[...ways, exoFrom(exo?.tensor)].join(' | ')} |`;
  })
  .join('\n')}

mlx-lm ${newestMlxLm} runs these only on a single node: ${whole.map(([name, { mlx }]) => `\`${name}\`${mlx.loads === undefined ? '' : ` (${fromText(mlx.loads)})`}`).join(', ')}.

## Sources

${sources.map((source, index) => `${index + 1}. ${source}`).join('\n')}
`;
}

function isWhole(mlx) {
  return mlx !== undefined && mlx !== 'unsupported' && mlx.tensor === undefined && mlx.pipeline === undefined;
}

function fromText(range) {
  return range?.replaceAll('>=', 'from ').replaceAll(' <', ', before ').replaceAll(' ||', ', and') ?? 'no';
}

/** Ranges of exo begin at 1.0.0, or after the last release. */
function exoFrom(range) {
  if (range === undefined) return 'no';
  return range.startsWith('>=') ? 'yes' : `after ${newestExo.release}`;
}

function splitRow(model, source) {
  const { name, type, parameters, others, llamaCpp } = model;
  const [total, active] = parameters;
  return `| ${[
    name,
    type === undefined ? '' : `\`${type}\``,
    `${total}${active === undefined ? '' : ` (${active})`}`,
    mlxText(modelType(type)?.mlx),
    exoText(model),
    { layers: 'by layers', none: 'no release' }[llamaCpp] ?? 'unknown',
    others ?? '',
    source,
  ].join(' | ')} |`;
}

function mlxText(mlx) {
  if (mlx === undefined) return 'unknown';
  if (mlx === 'unsupported') return 'not supported';
  if (isWhole(mlx)) return 'one node only';
  const { tensor, pipeline } = mlx;
  if (tensor === pipeline) return `tensor and pipeline ${fromText(tensor)}`;
  const ways = Object.entries({ tensor, pipeline }).filter(([, range]) => range !== undefined);
  return ways.map(([way, range]) => `${way} ${fromText(range)}`).join(', ');
}

/** What exo allows for the builds with a card, or else for the class. */
function exoText({ type, builds = [] }) {
  const cards = builds.flatMap(({ repository }) => {
    const card = exoCard(repository, newestExo.main);
    return card === undefined ? [] : [{ name: repository.replace(/^.*\//, ''), ...card }];
  });
  const ofClass = modelType(type)?.exo?.tensor;
  if (cards.length === 0 && ofClass === undefined) return 'unknown';
  const ranges = cards.length === 0 ? [ofClass] : cards.map(({ versions }) => versions);
  const since = ranges.some((range) => range.startsWith('>=')) ? '' : ` after ${newestExo.release}`;
  return `${wayText('tensor', cards, 'noTensor')}${wayText(' and pipeline', cards, 'noPipeline')}${since}`;
}

/** Names the builds that exo refuses to split this way. */
function wayText(way, cards, key) {
  const refused = cards.filter((card) => card[key] === true);
  if (refused.length === 0) return way;
  return refused.length === cards.length ? '' : `${way} (not ${refused.map(({ name }) => name).join(', ')})`;
}

function sizeRow({ name }, { repository, bytes, isRounded }, source) {
  return `| ${name} | \`${repository}\` | ${isRounded ? '≈ ' : ''}${(bytes / 1e9).toFixed(isRounded ? 0 : 1)} | ${source} |`;
}

function speedRow({ model, nodes, hardware, runtime, transport, generationSpeed, promptSpeed }, source) {
  return `| ${[model, nodes, hardware, runtime, transport, generationSpeed, promptSpeed ?? '', source].join(' | ')} |`;
}

const onlyText = ({ nodes, transport, sharding, chip }) =>
  [nodes && 'several nodes', transport && `transport: ${transport}`, sharding && `sharding: ${sharding}`, chip]
    .filter(Boolean)
    .join(', ');

export function knownPairsPage(knownPairs) {
  const row = ({ versions, only = {}, symptom, works = {}, source }) => {
    const partText = ([part, range]) => `${part === 'macos' ? 'macOS' : part} \`${range}\``;
    const [ranges, working] = [versions, works].map((parts) => Object.entries(parts).map(partText).join(', '));
    return `| ${ranges} | ${onlyText(only)} | ${symptom} | ${working || 'not reported'} | ${source} |`;
  };
  return `<!-- Generated from src/drivers/known/pairs.yaml by \`npm run generate\`; never edited by hand. -->
# Known pairs

These versions were reported to break together. \`validate\` and \`plan\` warn at the place of the version in the file before a
placement combines them, and \`plan\` and \`doctor\` if a Mac runs them already (\`version/known-pair\`). The packages of mlx
count once their list exists. **A combination that is not in the table is unknown, not good**: \`validate\` calls it so.

| versions | only with | what happens | what works | report |
|---|---|---|---|---|
${knownPairs.map(row).join('\n')}

To add a pair, add a row to \`src/drivers/known/pairs.yaml\`, and the versions of its report to
\`test/unit/drivers/known-pairs.test.ts\`.
`;
}
