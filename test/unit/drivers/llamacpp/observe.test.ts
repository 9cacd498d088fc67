import { describe, expect, it } from 'vitest';
import { observe } from '../../../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { logPattern } from '../../../../src/drivers/messages/llamacpp.ts';
import { keptByAwk } from './kept-by-awk.ts';

const accepted = 'Accepted client connection';
const activated = 'RDMA(Apple/UC) activated: qpn=3->7 mtu=4096 rx_depth=16';
const fallBack = 'RDMA activate failed, staying on TCP';
const device = (number: number): string =>
  `0.00.019.127 I llama_prepare_model_devices: using device RPC${number} (10.77.0.2:50152) (unknown id) - 24105 MiB free`;

/** Lines as printed by build 0.7.0 on Linux, except for the addresses. A model with a window has two caches. */
const buffers = [
  '0.00.041.827 I load_tensors:   CPU_Mapped model buffer size =     0.19 MiB',
  '0.00.041.827 I load_tensors: RPC0[10.77.0.2:50152] model buffer size =     6.76 MiB',
  '0.00.041.827 I load_tensors: RPC0[10.77.0.6:50152] model buffer size =     5.82 MiB',
  '0.00.072.313 I llama_kv_cache: RPC0[10.77.0.2:50152] KV buffer size =    12.00 MiB',
  '0.00.072.418 I llama_kv_cache: RPC0[10.77.0.6:50152] KV buffer size =    10.00 MiB',
  '0.00.072.420 I llama_kv_cache: RPC0[10.77.0.6:50152] KV buffer size =     1.00 MiB',
  '0.00.180.671 I sched_reserve: RPC0[10.77.0.2:50152] compute buffer size =    26.55 MiB',
  '0.00.180.750 I sched_reserve:        CPU compute buffer size =    21.07 MiB',
];
const cut = '0.00.072.313 I llama_kv_cache: RPC0[10.77.0.2:50152] KV buffer size =';

describe('the observation of a llama.cpp log', () => {
  it("shows RDMA if a worker's last connection uses it", () => {
    expect(observe([accepted, activated, accepted, activated])).toEqual({ transport: 'rdma' });
  });

  it("shows TCP if a worker's last connection has no RDMA line or fell back", () => {
    expect(observe([accepted, activated, accepted])).toEqual({ transport: 'tcp' });
    expect(observe([accepted, fallBack])).toEqual({ transport: 'tcp' });
  });

  it('shows the number of ranks on the leader, and its transport only if it fell back to TCP', () => {
    expect(observe([device(0), device(1)])).toEqual({ size: 3 });
    expect(observe([device(0), device(1), fallBack])).toEqual({ size: 3, transport: 'tcp' });
  });

  it("shows each device's model bytes, with one sum for the leader", () => {
    const mebibyte = 2 ** 20;
    expect(observe(buffers).held).toEqual([
      { weights: Math.round(0.19 * mebibyte), cache: 0, compute: Math.round(21.07 * mebibyte) },
      {
        address: '10.77.0.2',
        weights: Math.round(6.76 * mebibyte),
        cache: 12 * mebibyte,
        compute: Math.round(26.55 * mebibyte),
      },
      { address: '10.77.0.6', weights: Math.round(5.82 * mebibyte), cache: 11 * mebibyte, compute: 0 },
    ]);
    expect(observe([cut, `${cut} 3.0`]).held).toBeUndefined();
  });

  it('is empty for an empty log', () => {
    expect(observe([])).toEqual({});
  });

  it('comes only from lines that awk keeps', () => {
    const others = ['  transport      : TCP', 'Client connection closed', '0.00.1 I srv  llama_server: model loaded'];
    const kept = [accepted, activated, fallBack, device(0), ...buffers];
    expect(keptByAwk(logPattern, [...kept, ...others])).toEqual(kept);
  });
});
