import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { openSpareLookUp } from '../../../src/remote/look-up-name.ts';

describe('the spare lookup process', () => {
  it('resolves existing names and rejects missing ones', async () => {
    const spare = openSpareLookUp();
    const ask = (host: string) =>
      new Promise<readonly LookupAddress[] | string>((resolve) => {
        spare.ask(host, {
          found: resolve,
          failed: (error) => resolve('code' in error ? String(error.code) : error.message),
          lost: () => resolve('lost'),
        });
      });
    const [local, nobody] = await Promise.all([ask('localhost'), ask('no-such-mac.invalid')]);
    expect(local).toContainEqual(expect.objectContaining({ family: expect.any(Number) }));
    expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(nobody);
    spare.close();
  });
});
