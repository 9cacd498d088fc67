import type { Ipv4Network } from '../../model/desired.ts';

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

const blockSize = (prefixLength: number): number => 2 ** (32 - prefixLength);

const firstOf = ({ address, prefixLength }: Ipv4Network): number =>
  Math.floor(toNumber(address) / blockSize(prefixLength)) * blockSize(prefixLength);

/** Whether two IPv4 networks share an address; host bits have no meaning. */
export function overlaps(a: Ipv4Network, b: Ipv4Network): boolean {
  const [startA, startB] = [firstOf(a), firstOf(b)];
  return startA < startB + blockSize(b.prefixLength) && startB < startA + blockSize(a.prefixLength);
}

/** `10.77.0.0/24`, without host bits. */
export function networkText(network: Ipv4Network): string {
  const first = firstOf(network);
  const parts = [2 ** 24, 2 ** 16, 2 ** 8, 1].map((weight) => Math.floor(first / weight) % 256);
  return `${parts.join('.')}/${network.prefixLength}`;
}
