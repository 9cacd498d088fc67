import { describe, expect, it } from 'vitest';
import { seenTransport as seenTransportItself } from '../../../../../src/rack/placement/state/judge-mesh.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const seenTransport = onPage(seenTransportItself);

const driver = {
  observe: ([first]: readonly string[]) => (first === 'rdma' || first === 'tcp' ? ({ transport: first } as const) : {}),
};

describe('how the ranks of a mesh talk', () => {
  it('is TCP as soon as one of them fell back to it', () => {
    expect(seenTransport(driver, [['rdma'], ['tcp'], []])).toBe('tcp');
  });

  it('is RDMA where some say so and none says otherwise, and unknown where none says anything', () => {
    expect(seenTransport(driver, [['rdma'], []])).toBe('rdma');
    expect(seenTransport(driver, [[], []])).toBeUndefined();
  });
});

onOnePage('seen-transport');
