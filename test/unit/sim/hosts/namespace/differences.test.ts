import { describe, expect, it } from 'vitest';
import { textOf } from '../../../../architecture/sources.ts';
import { differences } from '../../../../contract/differences.ts';

describe('docs/simulated-fleet.md', () => {
  it('has a row for everything that one of the hosts does not have, and none for anything else', () => {
    const rows = textOf('docs/simulated-fleet.md')
      .split('\n')
      .flatMap((line) => {
        const [, what = '', missingOn = '', why = ''] = /^\| (.+) \| (portable|namespace) \| (.+) \|$/.exec(line) ?? [];
        return what === '' ? [] : [{ what, missingOn, why }];
      });
    expect(rows).toEqual(differences);
  });
});
