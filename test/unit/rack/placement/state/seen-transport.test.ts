import { describe, expect, it } from 'vitest';
import { seenTransport as seenTransportItself } from '../../../../../src/rack/placement/mesh/read-mesh.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const seenTransport = onPage(seenTransportItself);

const driver = {
  observe: ([first]: readonly string[]) => (first === 'rdma' || first === 'tcp' ? ({ transport: first } as const) : {}),
};

describe('the observed transport', () => {
  it('is TCP if any rank fell back to it', () => {
    expect(seenTransport(driver, [['rdma'], ['tcp'], []])).toBe('tcp');
  });

  it('is RDMA if some ranks report it and none reports TCP', () => {
    expect(seenTransport(driver, [['rdma'], []])).toBe('rdma');
    expect(seenTransport(driver, [[], []])).toBeUndefined();
  });
});

onOnePage('seen-transport');
