import { expect, it } from 'vitest';
import { surplusVersions as surplusVersionsItself } from '../../../../src/rack/artifacts/runtime-resource.ts';
import { onOnePage, onPage } from '../../one-page.ts';

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
  ['one more than the current one', 'a b*', 'b', ''],
  ['two more than the current one', 'b c* a', 'c', 'b'],
  ['three more than the current one', 'c a d* b', 'd', 'b c'],
  ['a current one that is no longer wanted', 'a* b c', 'c', 'b'],
  ['a wanted one that is not there yet', 'a* b', 'c', 'b'],
  ['none that is current', 'a b', 'c', 'b'],
])('of %s one older version stays', (_, all, wanted, surplus) => {
  expect(surplusVersions(versions(all), wanted).join(' ')).toBe(surplus);
});

onOnePage('runtime-versions');
