import { describe, expect, it } from 'vitest';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf } from './told.ts';

describe('an RDMA device without a receptacle', () => {
  it('causes only a notice', () => {
    const [finding, ...others] = findingsOf({ values: { 'studio-3': { 'other-rdma-devices': ['mlx5_0'] } } });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ code: 'rdma/other-device', severity: 'notice', subject: nodeSubject('studio-3') });
    expect(finding?.detail).toBe('This Mac also has mlx5_0.');
  });
});

onOnePage('rules-other-rdma-devices');
