import { gatewayAccount, ranksAccount, transfersAccount } from '../../model/account.ts';
import { nodeSubject } from '../../model/subject.ts';
import { canonicalAddress } from '../addresses.ts';
import { memoryLabelBytes, sizeBytes, systemBytes } from '../amounts.ts';
import { type Choices, choicesAmong, nameHint } from '../did-you-mean.ts';
import type { Draft, DraftNode } from '../draft.ts';
import { type FileFinding, type FileRule, type FindingPlace, type PlaceText, repeats } from './rule.ts';

export const nodeRules: readonly FileRule[] = [
  duplicateNode,
  duplicateAddress,
  badAddress,
  unknownNode,
  wiredLimitTooLarge,
  loginUnderFileVault,
  accounts,
];

function isTooSmall({ memory }: DraftNode, limitBytes: number): boolean {
  const bytes = memory?.isText ? memoryLabelBytes(memory.text) : undefined;
  return bytes !== undefined && bytes - systemBytes < limitBytes;
}

/** `system.wiredLimit` must leave enough memory for macOS on every Mac with declared memory. */
function wiredLimitTooLarge({ nodes, wiredLimit }: Draft): readonly FileFinding[] {
  const limitBytes = wiredLimit?.isText ? sizeBytes(wiredLimit.text) : undefined;
  if (wiredLimit === undefined || limitBytes === undefined) return [];
  const small = nodes.filter((node) => isTooSmall(node, limitBytes));
  if (small.length === 0) return [];
  const memories = small.map(({ name, memory }) => `${name} has ${memory?.text ?? ''}`);
  return [
    {
      code: 'node/wired-limit-too-large',
      pointer: wiredLimit.pointer,
      detail: `${memories.join(', ')}. A limit of ${wiredLimit.text} leaves macOS less than the 8 GiB that it needs.`,
      others: small.flatMap(({ memory }) =>
        memory === undefined ? [] : [{ pointer: memory.pointer, detail: 'The declared memory.' } as const],
      ),
    },
  ];
}

/** Nodes in links, `avoid` and `downloads.via` must be under `nodes`. A file without nodes has its own error. */
function unknownNode(draft: Draft): readonly FileFinding[] {
  const known = draft.nodeNames;
  if (known.size === 0) return [];
  const choices = choicesAmong(draft.nodes.map((node) => node.name));
  const inLinks = draft.links.flatMap((link) =>
    link.ends.flatMap((end) => {
      const part = { start: end.start, end: end.start + end.node.length };
      const place: FindingPlace = { pointer: link.pointer, part };
      return known.has(end.node) ? [] : [finding(end.node, place, choices)];
    }),
  );
  const inAvoid = draft.avoid.flatMap(({ node, pointer }) => {
    if (node === undefined || known.has(node)) return [];
    return [finding(node, { pointer, part: { start: 0, end: node.length } }, choices)];
  });
  const { via } = draft;
  const inVia =
    via?.isText === true && !known.has(via.text) ? [finding(via.text, { pointer: via.pointer }, choices)] : [];
  return [...inLinks, ...inAvoid, ...inVia];
}

function finding(name: string, place: FindingPlace, choices: Choices): FileFinding {
  return {
    ...place,
    code: 'topology/unknown-node',
    detail: `This file has no node \`${name}\`.`,
    subject: nodeSubject(name),
    ...nameHint(choices.near(name), `The nodes are ${choices.list}.`),
  };
}

function loginUnderFileVault({ automaticLogin, fileVault }: Draft): readonly FileFinding[] {
  if (automaticLogin?.text !== 'required' || fileVault?.text !== 'enabled') return [];
  return [
    {
      code: 'node/login-under-filevault',
      pointer: automaticLogin.pointer,
      detail: 'A Mac with FileVault on does not offer automatic login.',
      others: [{ pointer: fileVault.pointer, detail: 'FileVault is required here.' }],
    },
  ];
}

/** Node names must differ in more than upper and lower case. (The file reader reports equal names.) */
function duplicateNode({ nodes }: Draft, place: PlaceText): readonly FileFinding[] {
  return repeats(nodes, ({ name }) => name.toLowerCase()).map(([node, other]) => {
    const otherPlace = { pointer: other.pointer, at: 'key' } as const;
    return {
      code: 'topology/duplicate-node',
      pointer: node.pointer,
      at: 'key',
      label: `same name as ${place(otherPlace)}`,
      detail: `\`${node.name}\` and \`${other.name}\` differ only in upper and lower case.`,
      subject: nodeSubject(node.name),
      others: [{ ...otherPlace, detail: 'The first of the two nodes.' }],
    };
  });
}

const sshPort = 22;

/** Two nodes need two addresses. The same host at two ports counts as two. */
function duplicateAddress({ nodes }: Draft, place: PlaceText): readonly FileFinding[] {
  const reached = nodes.flatMap(({ name, host, port = sshPort }) => {
    const address = host === undefined ? undefined : canonicalAddress(host.text);
    return host === undefined || address === undefined ? [] : [{ name, pointer: host.pointer, address, port }];
  });
  return repeats(reached, ({ address, port }) => `${address} ${port}`).map(([node, other]) => {
    const otherPlace = { pointer: other.pointer };
    return {
      code: 'topology/duplicate-address',
      pointer: node.pointer,
      label: `${other.name} already has it, ${place(otherPlace)}`,
      detail: `${node.name} and ${other.name} would both be reached at ${node.address}.`,
      subject: nodeSubject(node.name),
      others: [{ ...otherPlace, detail: `The address of ${other.name}.` }],
    };
  });
}

/** The characters of a name or an IPv6 address, which has at least two colons. The schema checks the rest. */
const hasForm = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9]+)?)$/;

/** Rejects hosts that look like IP addresses but are invalid, or that programs read differently. */
function badAddress(draft: Draft): readonly FileFinding[] {
  return draft.nodes.flatMap(({ name, host }) => {
    if (host === undefined || !host.isText || !hasForm.test(host.text)) return [];
    if (canonicalAddress(host.text) !== undefined) return [];
    return {
      code: 'topology/bad-address',
      pointer: host.pointer,
      detail: `\`${host.text}\` looks like an IP address, but programs would read it differently.`,
      subject: nodeSubject(name),
    };
  });
}

/** The keys that name accounts, with the account that meshwright creates for each. */
const accountRoles = [
  { key: 'ranks', own: ranksAccount, who: 'the ranks' },
  { key: 'gateway', own: gatewayAccount, who: 'the gateway' },
  { key: 'transfers', own: transfersAccount, who: 'model transfers' },
] as const;

/** Ranks, gateway and model transfers need separate accounts, and none of them may be an SSH user. */
function accounts({ accounts: inFile, users }: Draft): readonly FileFinding[] {
  return accountRoles.flatMap(({ key }, at): readonly FileFinding[] => {
    const account = inFile[key];
    if (account === undefined || account.text === 'login') return [];
    const { text, pointer } = account;
    const owner = accountRoles.find((one) => one.own === text && one.key !== key);
    if (owner !== undefined) {
      return [{ code: 'node/same-account', pointer, detail: `meshwright creates ${text} for ${owner.who}.` }];
    }
    const sharing = accountRoles.slice(0, at).flatMap((earlier) => {
      const other = inFile[earlier.key];
      return other?.text === text ? { who: earlier.who, pointer: other.pointer } : [];
    });
    const [first] = sharing;
    if (first !== undefined) {
      const detail = `${text} would also be the account for ${first.who}.`;
      const others = sharing.map((one) => ({ pointer: one.pointer, detail: `The account for ${one.who}.` }));
      return [{ code: 'node/same-account', pointer, detail, others }];
    }
    return text === 'root' || users.includes(text)
      ? [{ code: 'node/account-logs-in', pointer, detail: `The account ${text} can become root.` }]
      : [];
  });
}
