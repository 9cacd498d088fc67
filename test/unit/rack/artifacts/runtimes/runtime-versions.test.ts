import { expect, it } from 'vitest';
import { surplusVersions as surplusVersionsItself } from '../../../../../src/rack/artifacts/runtimes/runtime-resource.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const surplusVersions = onPage(surplusVersionsItself);

const versions = (text: string) =>
  text.split(' ').map((one) => ({
    kind: 'runtime' as const,
    name: 'mlx',
    digest: one.replace('*', ''),
    isCurrent: one.endsWith('*'),
    state: 'intact' as const,
  }));

it.each([
  ['the current version and one more', 'a b*', 'b', ''],
  ['the current version and two more', 'b c* a', 'c', 'b'],
  ['the current version and three more', 'c a d* b', 'd', 'b c'],
  ['a current version that is no longer desired', 'a* b c', 'c', 'b'],
  ['a desired version that is not installed yet', 'a* b', 'c', 'b'],
  ['no current version', 'a b', 'c', 'b'],
])('runtime cleanup with %s keeps one older version', (_, all, wanted, surplus) => {
  expect(surplusVersions(versions(all), wanted).join(' ')).toBe(surplus);
});

onOnePage('runtime-versions');
