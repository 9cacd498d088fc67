import type { Ipv4Network } from '../../../model/desired.ts';
import type { Prose } from '../../../model/text/prose.ts';
import type { Draft } from '../../draft/draft.ts';
import type { DraftText } from '../../draft/draft-values.ts';
import type { Finding } from '../../draft/finding.ts';
import { firstAddress, ipv4Number, isInside, networkSize, parseIpv4Network } from '../../links/ipv4.ts';

const addressesPerLink = networkSize(30);

const privateNetworks: readonly Ipv4Network[] = [
  { address: '10.0.0.0', prefixLength: 8 },
  { address: '172.16.0.0', prefixLength: 12 },
  { address: '192.168.0.0', prefixLength: 16 },
];

/** Networks in which no host has an ordinary address. */
const unusable: readonly (Ipv4Network & { readonly name: string })[] = [
  { address: '0.0.0.0', prefixLength: 8, name: '"this network"' },
  { address: '127.0.0.0', prefixLength: 8, name: 'the loopback network' },
  { address: '169.254.0.0', prefixLength: 16, name: 'where macOS assigns addresses by itself' },
  { address: '224.0.0.0', prefixLength: 3, name: 'multicast or reserved' },
];

/** The pool is a usable, private network with a /30 for every link, and no node is reached at an address of it. */
export function pool(draft: Draft): readonly Finding[] {
  const text = draft.pool;
  if (text === undefined || !text.isText || !/^[0-9.]+\/[0-9]+$/.test(text.text)) return [];
  const network = parseIpv4Network(text.text);
  if (network === undefined) return [notANetwork(text, 'Four numbers from 0 to 255 and a prefix length up to 32.')];
  const first = firstAddress(network);
  if (first !== network.address) {
    const right = `${first}/${network.prefixLength}`;
    return [notANetwork(text, `${network.address} is an address inside ${right}.`, `Write ${right}.`)];
  }
  const overlap = unusable.find((one) => isInside(network, one) || isInside(one, network));
  if (overlap !== undefined)
    return [notANetwork(text, `It reaches into ${overlap.address}/${overlap.prefixLength}, ${overlap.name}.`)];
  return [...tooSmall(draft, text, network), ...notPrivate(text, network), ...hasHosts(draft, text, network)];
}

const here = (text: DraftText) => ({ pointer: text.pointer, at: 'value' }) as const;

function notANetwork(text: DraftText, detail: string, hint?: Prose): Finding {
  return { ...here(text), code: 'topology/pool-not-a-network', detail, ...(hint === undefined ? {} : { hint }) };
}

function tooSmall(draft: Draft, text: DraftText, network: Ipv4Network): readonly Finding[] {
  const has = Math.floor(networkSize(network.prefixLength) / addressesPerLink);
  const needs = draft.links.length;
  if (needs <= has) return [];
  const prefix = 30 - Math.ceil(Math.log2(needs));
  const wide = { address: network.address, prefixLength: prefix };
  const detail = `${needs} links need ${needs * addressesPerLink} addresses; a /${network.prefixLength} has room for ${has === 1 ? 'one link' : `${has} links`}.`;
  const hint = `A /${prefix} is large enough, such as ${firstAddress(wide)}/${prefix}.`;
  return [{ ...here(text), code: 'topology/pool-too-small', detail, hint }];
}

function notPrivate(text: DraftText, network: Ipv4Network): readonly Finding[] {
  if (privateNetworks.some((one) => isInside(network, one))) return [];
  return [{ ...here(text), code: 'topology/pool-not-private', detail: `${text.text} is public, at least in part.` }];
}

/** Names of hosts are not looked up: only a host that is written as an address is compared. */
function hasHosts({ nodes }: Draft, text: DraftText, network: Ipv4Network): readonly Finding[] {
  const inside = nodes.flatMap(({ name, host }) =>
    host !== undefined &&
    ipv4Number(host.text) !== undefined &&
    isInside({ address: host.text, prefixLength: 32 }, network)
      ? [{ name, host }]
      : [],
  );
  const [first] = inside;
  if (first === undefined) return [];
  const others = inside.map(({ name, host }) => ({ ...here(host), detail: `${name} is reached at ${host.text}.` }));
  const detail = `${first.name} is reached at ${first.host.text}, which is inside ${text.text}.`;
  return [{ ...here(text), code: 'topology/pool-has-host', detail, others }];
}
