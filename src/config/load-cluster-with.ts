import { makeDraft } from '../desired/draft.ts';
import { resolveFleet } from '../desired/resolve.ts';
import { rules } from '../desired/rules/registry.ts';
import type { Finding, FindingPlace, KeysByDriver, PlaceText } from '../desired/rules/rule.ts';
import { type Diagnostic, hasErrors, type SourceRange } from '../diagnostics/diagnostic.ts';
import { hideSecrets, withoutSecrets } from '../diagnostics/hide-secrets.ts';
import type { ClusterSpec } from '../model/cluster-spec.generated.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { mapWords } from '../model/text/prose.ts';
import { diagnosticsOf, type Problem } from './problem.ts';
import { type ReadDocument, readDocument } from './read-document.ts';
import { schemaProblems } from './schema-problems.ts';
import { placeOf, pointerText, spanOf } from './source-map.ts';
import { clusterSchema, validateCluster } from './validators.generated.ts';

/** The result of reading a cluster file: diagnostics sorted by position; `fleet` and `spec` unless one is an error. */
export interface LoadedCluster {
  readonly fleet?: DesiredFleet;
  readonly spec?: ClusterSpec;
  readonly diagnostics: readonly Diagnostic[];
  /** Finds the source range of a key by its JSON pointer. Set whenever `fleet` is. */
  readonly whereIs?: (pointer: string) => SourceRange;
}

/**
 * Reads and validates a cluster file. Returns all problems together, each with file, line and column; `fleet` and
 * `spec` are set unless one of the problems is an error. Never throws, and takes bounded time for any input.
 *
 * @param drivers the keys of every driver, from the list of drivers
 * @param input the file's text, or its bytes, which must be UTF-8
 * @param file the file name that diagnostics show
 */
export function loadClusterWith(drivers: KeysByDriver, input: string | Uint8Array, file: string): LoadedCluster {
  const document = readDocument(input, file);
  const loaded = judge(document, drivers);
  return { ...loaded, diagnostics: withSecretsHidden(loaded.diagnostics, document.source.text) };
}

function judge(document: ReadDocument, drivers: KeysByDriver): LoadedCluster {
  if (document.value === undefined) return { diagnostics: diagnosticsOf(document.source, document.problems) };
  const meant = [
    ...ruleProblems(document, drivers),
    ...schemaProblems({ schema: clusterSchema, validate: validateCluster }, document),
  ];
  const diagnostics = diagnosticsOf(document.source, bestFirst(document, meant));
  if (hasErrors(diagnostics)) return { diagnostics };
  const spec = document.value as ClusterSpec;
  const { source, map } = document;
  const whereIs = (pointer: string): SourceRange => placeOf(source, spanOf(map, { pointer, at: 'key' }), pointer);
  return { spec, fleet: resolveFleet(spec, drivers), diagnostics, whereIs };
}

/** Sorts YAML errors first, because they explain other errors, and ambiguous values last: they matter least. */
function bestFirst({ problems }: ReadDocument, meant: readonly Problem[]): readonly Problem[] {
  const isReading = (problem: Problem): boolean => problem.code.startsWith('yaml/ambiguous-');
  return [...problems.filter((one) => !isReading(one)), ...meant, ...problems.filter(isReading)];
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

function problemOf(finding: Finding, document: ReadDocument): Problem {
  const { at: _at, part: _part, others, ...words } = finding;
  const span = (target: FindingPlace) => spanOf(document.map, target);
  return {
    ...words,
    span: span(finding),
    ...(others === undefined ? {} : { others: others.map((one) => ({ span: span(one), detail: one.detail })) }),
  };
}

/** Hides the values of password keys in diagnostics. */
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
    hint: one.code === 'secret/not-a-source' ? one.hint : mapWords(one.hint, (words) => withoutSecrets(words, secrets)),
    detail: mapWords(one.detail, (words) => withoutSecrets(words, secrets)),
    related: one.related.map((other) => hiddenIn(other, secrets)),
  };
}
