import type { KeySource as KeySpec, SecretSource as SourceSpec } from '../model/cluster-spec.generated.ts';
import type { SecretSource } from '../model/secret.ts';

/** The source that a file names; undefined when it names none. */
export function resolveSecretSource(spec: SourceSpec | KeySpec | undefined): SecretSource | undefined {
  if (spec?.env !== undefined) return { kind: 'env', name: spec.env };
  if (spec?.file !== undefined) return { kind: 'file', path: spec.file };
  if (spec?.command !== undefined) return { kind: 'command', argv: spec.command };
  return spec !== undefined && 'prompt' in spec && spec.prompt === true ? { kind: 'prompt' } : undefined;
}

/** The sources of the keys of an endpoint, whether the file has one or a list. */
export const keySources = (spec: KeySpec | readonly KeySpec[] | undefined): readonly SecretSource[] =>
  (spec === undefined ? [] : [spec].flat()).flatMap((one) => resolveSecretSource(one) ?? []);
