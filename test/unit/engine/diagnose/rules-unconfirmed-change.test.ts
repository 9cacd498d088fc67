import { describe, expect, it } from 'vitest';
import type { RackChanges } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf, hintsOf, told } from './told.ts';

describe('an unconfirmed network change', () => {
  const fields = { run: '20261121-120000-abcdef', by: 'ana@desk', step: 'studio-3/link-address/2/set' };
  const pending = (more: Readonly<Record<string, string>>, state: 'pending' | 'rolling' = 'pending'): RackChanges => ({
    values: { 'studio-3': { transactions: [{ state, fields: { ...fields, ...more } }] } },
  });

  it('causes a warning with its run, the rollback time and the command that settles it', () => {
    const changes = pending({ since: '1790000000', seconds: '20' });
    expect(told(changes)).toEqual(['warning network/unconfirmed-change node studio-3']);
    expect(findingsOf(changes)[0]?.detail).toBe(
      'A network change of run 20261121-120000-abcdef (ana@desk), studio-3/link-address/2/set, is not confirmed. ' +
        'The node rolls it back at 2026-09-21 14:13:40 UTC (by its own clock), unless a run confirms it first.',
    );
    expect(hintsOf('network/unconfirmed-change', changes)).toEqual([
      'If that run is over, settle the change now:\n  meshwright apply studio-3',
    ]);
  });

  it('is reported even during its rollback, and without a start time', () => {
    expect(findingsOf(pending({}, 'rolling'))[0]?.detail).toContain('The node is rolling it back now.');
    expect(findingsOf(pending({ since: 'x' }))[0]?.detail).toContain('rolls it back soon (by its own clock)');
  });
});

onOnePage('rules-unconfirmed-change');
