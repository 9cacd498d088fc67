import { makeDraft } from '../desired/draft.ts';
import { resolveFleet } from '../desired/resolve.ts';
import { rules } from '../desired/rules/registry.ts';
import type { FileFinding, FindingPlace, KeysByDriver, PlaceText } from '../desired/rules/rule.ts';
import { codes } from '../diagnostics/diagnose.ts';
import { type Diagnostic, hasErrors, hasTrait, type SourceRange } from '../diagnostics/diagnostic.ts';
import { hideSecrets, withoutSecrets } from '../diagnostics/hide-secrets.ts';
import type { ClusterSpec } from '../model/cluster-spec.generated.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { mapWords } from '../model/text/prose.ts';
import { blameReadable, repairWords } from './blame.ts';
import { diagnosticsOf, type Problem } from './problem.ts';
import { type ReadDocument, readDocument, readTree } from './read-document.ts';
import { schemaProblems } from './schema-problems.ts';
import { placeOf, pointerText, sourceText, spanOf, spanOfLine } from './source-map.ts';
import { asIntended } from './unknown-keys.ts';
import { clusterSchema, validateCluster } from './validators.generated.ts';

/** The result of reading a cluster file: diagnostics sorted by position; `fleet` and `spec` unless one is an error. */
export interface LoadedCluster {
  readonly fleet?: DesiredFleet;
  readonly spec?: ClusterSpec;
  readonly diagnostics: readonly Diagnostic[];
  /** Finds the source range of a key by its JSON pointer. Set whenever `fleet` is. */
  readonly whereIs?: (pointer: string) => SourceRange;
}

const schema = { schema: clusterSchema, validate: validateCluster };

/**
 * Reads and validates a cluster file. Returns all problems together, each with file, line and column; `fleet` and
 * `spec` are set unless one of the problems is an error. Never throws, and takes bounded time for any input.
 *
 * @param drivers the keys of every driver, from the list of drivers
 * @param input the file's text, or its bytes, which must be UTF-8
 * @param file the file name that diagnostics show
 */
export function loadClusterWith(drivers: KeysByDriver, input: string | Uint8Array, file: string): LoadedCluster {
  const mistakes = (text: string): number => {
    const tried = readTree(sourceText(file, text), () => []);
    if (tried.value === undefined || tried.map.size > repairable.values) return Number.POSITIVE_INFINITY;
    return judge(tried, drivers).diagnostics.filter(({ severity }) => severity === 'error').length;
  };
  const document = readDocument(input, file, mistakes);
  const judged = judge(document, drivers);
  const loaded = { ...judged, diagnostics: blamed(document, judged.diagnostics, mistakes) };
  return { ...loaded, diagnostics: withSecretsHidden(loaded.diagnostics, document.source.text) };
}

function judge(document: ReadDocument, drivers: KeysByDriver): LoadedCluster {
  if (document.value === undefined) return { diagnostics: diagnosticsOf(document.source, document.problems) };
  const found = [...ruleProblems(asIntended(schema, document), drivers), ...schemaProblems(schema, document)];
  const diagnostics = diagnosticsOf(document.source, bestFirst(document, found));
  if (hasErrors(diagnostics)) return { diagnostics };
  const spec = document.value as ClusterSpec;
  const { source, map } = document;
  const whereIs = (pointer: string): SourceRange => placeOf(source, spanOf(map, { pointer, at: 'key' }), pointer);
  return { spec, fleet: resolveFleet(spec, drivers), diagnostics, whereIs };
}

/** The errors that may come from a line at a wrong column or in a wrong place. */
const misplaced = /^(?:schema\/(?:unknown-key|missing-key|wrong-type|bad-form|out-of-range)|yaml\/duplicate-key)$/;
/** Larger files are not repaired, because each trial judges the whole file. */
const repairable = { letters: 32_768, values: 4_096 };

/** Only the error of the line whose move would remove all errors, if there is such a line; otherwise all diagnostics. */
function blamed(
  document: ReadDocument,
  diagnostics: readonly Diagnostic[],
  mistakes: (text: string) => number,
): readonly Diagnostic[] {
  const { source, value, map } = document;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const suspects = errors.filter(({ code }) => misplaced.test(code));
  const [first] = suspects;
  if (value === undefined || first === undefined || asIntended(schema, document) !== document) return diagnostics;
  if (source.text.length > repairable.letters || map.size > repairable.values) return diagnostics;
  const lines = new Set(suspects.map(({ where }) => (where?.line ?? 1) - 1));
  const repair = blameReadable(source.text, [...lines], mistakes);
  if (repair === undefined) return diagnostics;
  const others = diagnostics.filter(({ severity }) => severity !== 'error');
  const own = errors.find(({ where }) => where?.line === repair.line + 1);
  const { detail, hint } = repairWords(repair);
  const where = own?.where ?? placeOf(source, spanOfLine(source, repair.line));
  const only = own ?? { ...first, detail, related: [] };
  return [...others, { ...only, where, hint: repair.kind === 'stray' ? only.hint : hint }].toSorted(
    (a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0),
  );
}

/** Sorts YAML errors first, because they explain other errors, and ambiguous values last: they matter least. */
function bestFirst({ problems }: ReadDocument, found: readonly Problem[]): readonly Problem[] {
  const isReading = (problem: Problem): boolean => hasTrait(codes[problem.code], 'ambiguous-value');
  return [...problems.filter((one) => !isReading(one)), ...found, ...problems.filter(isReading)];
}

function ruleProblems(document: ReadDocument, drivers: KeysByDriver): readonly Problem[] {
  const draft = makeDraft(document.value, (pointer) => document.map.get(pointer)?.raw);
  const place: PlaceText = (target) =>
    document.map.has(target.pointer)
      ? `line ${placeOf(document.source, spanOf(document.map, target)).line}`
      : pointerText(target.pointer);
  const own = [...drivers.values()].flatMap((keys) => keys.rules ?? []);
  return [...rules, ...own]
    .flatMap((rule) => rule(draft, place, drivers))
    .map((finding) => problemOf(finding, document));
}

function problemOf(finding: FileFinding, document: ReadDocument): Problem {
  const { at: _at, part: _part, others, ...words } = finding;
  const span = (target: FindingPlace) => spanOf(document.map, target);
  return {
    ...words,
    span: span(finding),
    ...(others === undefined ? {} : { others: others.map((one) => ({ span: span(one), detail: one.detail })) }),
  };
}

function withSecretsHidden(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  const { secrets } = hideSecrets(text.split(/\r?\n/u));
  return secrets.length === 0 ? diagnostics : diagnostics.map((one) => hiddenIn(one, secrets));
}

function hiddenIn(one: Diagnostic, secrets: readonly string[]): Diagnostic {
  const label = one.label === undefined ? {} : { label: withoutSecrets(one.label, secrets) };
  return {
    ...one,
    ...label,
    // This hint comes from the registry, so it cannot contain a secret.
    hint: hasTrait(one, 'fixed-hint') ? one.hint : mapWords(one.hint, (words) => withoutSecrets(words, secrets)),
    detail: mapWords(one.detail, (words) => withoutSecrets(words, secrets)),
    related: one.related.map((other) => hiddenIn(other, secrets)),
  };
}
