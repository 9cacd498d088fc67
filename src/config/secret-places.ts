import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { hideSecrets, withoutSecrets } from '../diagnostics/hide-secrets.ts';
import { mapWords } from '../model/text/prose.ts';
import { spanOf } from './document/source-map.ts';
import type { Problem } from './problem.ts';
import type { Context } from './schema/schema-context.ts';

const place = /^(\/(?:ssh|nodes\/[^/]+)\/password|\/placements\/[^/]+\/endpoint\/apiKey)(?:\/|$)/u;

/** The problem of whatever is wrong at a password: it names the key, and nothing that stands there. */
export function secretProblem({ document, error }: Context): Problem | undefined {
  const pointer = place.exec(error.instancePath)?.[1];
  if (pointer === undefined) return undefined;
  const forms = pointer.endsWith('/apiKey')
    ? 'exactly one of env, file or command, in its form, or a list of such sources'
    : 'exactly one of env, file, command or prompt, in its form';
  const detail = `What stands here names no source: ${forms}.`;
  return { code: 'secret/not-a-source', span: spanOf(document.map, { pointer, at: 'key' }), pointer, detail };
}

/** Diagnostics of a file whose words hold nothing that stands under a key called like a password. */
export function withSecretsHidden(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  const { secrets } = hideSecrets(text.split(/\r?\n/u));
  return secrets.length === 0 ? diagnostics : diagnostics.map((one) => hiddenIn(one, secrets));
}

function hiddenIn(one: Diagnostic, secrets: readonly string[]): Diagnostic {
  const label = one.label === undefined ? {} : { label: withoutSecrets(one.label, secrets) };
  return {
    ...one,
    ...label,
    // A hint that is the registry's own stays whole.
    hint: one.code === 'secret/not-a-source' ? one.hint : mapWords(one.hint, (words) => withoutSecrets(words, secrets)),
    detail: mapWords(one.detail, (words) => withoutSecrets(words, secrets)),
    related: one.related.map((other) => hiddenIn(other, secrets)),
  };
}
