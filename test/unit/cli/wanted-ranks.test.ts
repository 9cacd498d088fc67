import { describe, expect, it } from 'vitest';
import { mayRunAnywhere, wantedRanks } from '../../../src/cli/wanted-ranks.ts';
import { FleetError } from '../../../src/diagnostics/fleet-error.ts';
import { fleet } from '../plan/rack-with-fallback.ts';

const namesOf = (words: readonly string[], of = fleet()) =>
  wantedRanks(words, of).map(({ placement, nodes }) => [placement, nodes.map(({ name }) => name)]);

describe('the ranks that words name', () => {
  it('are all of a placement, or those on a node', () => {
    expect(namesOf(['kimi'])).toEqual([['kimi', ['studio-1', 'studio-2', 'studio-3']]]);
    expect(namesOf(['studio-2'])).toEqual([['kimi', ['studio-2']]]);
  });

  it('may be on a node that only the fallback has, before anybody has looked', () => {
    expect(() => namesOf(['studio-4'])).toThrow(FleetError);
    expect(namesOf(['studio-4'], mayRunAnywhere(fleet()))).toEqual([['kimi', ['studio-4']]]);
  });
});
