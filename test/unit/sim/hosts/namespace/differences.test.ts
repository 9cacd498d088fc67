import { describe, expect, it } from 'vitest';
import { textOf } from '../../../../architecture/sources.ts';
import { differences } from '../../../../contract/differences.ts';

describe('docs/simulated-fleet.md', () => {
  it('has exactly one row for each difference between the hosts', () => {
    const rows = textOf('docs/simulated-fleet.md')
      .split('\n')
      .flatMap((line) => {
        const [, what = '', missingOn = '', why = ''] = /^\| (.+) \| (portable|namespace) \| (.+) \|$/.exec(line) ?? [];
        return what === '' ? [] : [{ what, missingOn, why }];
      });
    expect(rows).toEqual(differences);
  });
});
