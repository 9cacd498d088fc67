import { dirname, resolve } from 'node:path';
import { clearTextWords, endpointUrl, isPublished } from '../../desired/endpoints.ts';
import { layoutsOf } from '../../desired/layouts.ts';
import { nameInFile } from '../../desired/replicas.ts';
import { firmSpace } from '../../diagnostics/cells.ts';
import { takesPrompt } from '../../drivers/contract/chat-request.ts';
import { driverOf } from '../../drivers/registry.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import type { EndpointsDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { alike } from '../../model/lists.ts';
import { type SecretSource, secretSourceText } from '../../model/secret.ts';
import { asObject } from '../../node/answers/read-answer.ts';
import { hang, type Page, pageText } from '../../report/page.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { rehearsedUrls } from '../cluster/simulator.ts';
import { partsOf, placementsNamed, tokenRequestOf } from '../cluster/targets.ts';
import { exitCode } from '../exit-codes.ts';
import { homeFolder } from '../files/places.ts';
import { simulatedSecret } from '../sources/secrets.ts';
import type { VerbBody } from '../verb.ts';

/** `endpoints [PLACEMENT…]`: prints client settings, ready to copy, without contacting nodes or reading keys. */
export const endpoints: VerbBody = async (run) => {
  const { fleet, path } = openCluster(run);
  const home = homeFolder(run.env);
  const folder = dirname(resolve(run.folder, path));
  const words = run.words.length === 0 ? [...new Set(fleet.placements.map(nameInFile))] : run.words;
  const layouts = [...new Set(words.flatMap((word) => placementsNamed({ fleet }, word)))].flatMap(atLeaders);
  const at = (one: DesiredPlacement) => ({ node: partsOf(fleet, one).leader.name, port: one.endpointPort });
  const urlOf = await rehearsedUrls(run, layouts.map(at));
  const simulatedKeyOf = (source: SecretSource) => simulatedSecret(run, source, { what: 'key', folder });
  const place = { folder, home, simulatedKeyOf };
  const all = layouts.map((one) => settingsOf(fleet, one, { ...place, ...given({ rehearsed: urlOf(at(one)) }) }));
  const document = { formatVersion: 1, cluster: fleet.name, endpoints: all.map(settingsJson) } as const;
  return { exit: exitCode.done, document, text: endpointsText(all, run.console) };
};

/** The placement's layouts with different leaders: a fallback is included only if its leader is a different node. */
function atLeaders(placement: DesiredPlacement): readonly DesiredPlacement[] {
  const [own = placement, other] = layoutsOf(placement);
  return other === undefined || other.nodes[0] === own.nodes[0] ? [own] : [own, other];
}

function settingsOf(fleet: DesiredFleet, placement: DesiredPlacement, place: ClientPlace): EndpointSettings {
  const { leader } = partsOf(fleet, placement);
  const { publication } = placement;
  return {
    placement: placement.name,
    ...(placement.replica === undefined ? {} : { replicaOf: placement.replica.of }),
    node: leader.name,
    url: place.rehearsed ?? endpointUrl(placement, leader),
    model: publication?.servedName ?? runtimeWord(fleet, placement),
    contextTokens: placement.contextTokens,
    ...(placement.ownLayout === undefined ? {} : { fallback: true }),
    takesPrompt: takesPrompt(tokenRequestOf(fleet, placement).path),
    access: accessOf(placement, leader, place),
    ...exposedOf(fleet, placement),
  };
}

function exposedOf(fleet: DesiredFleet, placement: DesiredPlacement): Pick<EndpointSettings, 'exposed'> {
  const found = driverOf(partsOf(fleet, placement).runtime).exposed?.(placement) ?? [];
  const clear = clearTextWords(placement);
  const exposed = [...(clear === undefined ? [] : [clear]), ...found.map(({ detail }) => detail)];
  return exposed.length === 0 ? {} : { exposed };
}

/** This computer: the base folders of paths in the cluster file, and in a rehearsal the endpoint's URL here. */
interface ClientPlace {
  readonly folder: string;
  readonly home: string;
  readonly rehearsed?: string;
  /** What stands in for a key in a rehearsal. */
  readonly simulatedKeyOf: (source: SecretSource) => string | undefined;
}

/** Makes a key file's path absolute, because users can paste the path anywhere. */
const keySource = (source: SecretSource, { folder, home }: ClientPlace): SecretSource =>
  source.kind === 'file' ? { ...source, path: resolve(folder, source.path.replace(/^~(?=\/)/, home)) } : source;

function accessOf(placement: DesiredPlacement, { host, user, port }: DesiredNode, place: ClientPlace): EndpointAccess {
  const { publication, endpointPort } = placement;
  if (isPublished(placement)) {
    const [first] = publication?.apiKeys ?? [];
    if (first === undefined) return { kind: 'anybody' };
    const simulatedKey = place.simulatedKeyOf(first);
    return { kind: 'key', source: keySource(first, place), ...given({ simulatedKey }) };
  }
  if (place.rehearsed !== undefined) return { kind: 'anybody' };
  const words = ['ssh', '-N', '-L', `${endpointPort}:127.0.0.1:${endpointPort}`];
  const way = port === undefined ? [] : ['-p', String(port)];
  return { kind: 'tunnel', command: [...words, ...way, user === undefined ? host : `${user}@${host}`].join(' ') };
}

/** The model name if there is no gateway, where clients have to use the runtime's own name. */
function runtimeWord(fleet: DesiredFleet, placement: DesiredPlacement): string {
  const word = asObject(tokenRequestOf(fleet, placement).body)?.['model'];
  return typeof word === 'string' && word !== '' ? word : placement.model;
}

const settingsJson = ({ access, takesPrompt: _, ...one }: EndpointSettings) => ({
  ...one,
  baseUrl: `${one.url}/v1`,
  access: access.kind === 'key' ? { ...access, source: secretSourceText(access.source) } : access,
});

/** The client settings for one endpoint, without a key. */
interface EndpointSettings extends Omit<EndpointsDocument['endpoints'][number], 'baseUrl' | 'access'> {
  /** True if the endpoint accepts only a prompt, not a chat. */
  readonly takesPrompt: boolean;
  readonly access: EndpointAccess;
}

/** A client's way of accessing the endpoint. */
type EndpointAccess =
  | {
      readonly kind: 'key';
      readonly source: SecretSource;
      /** What stands in for the key in a rehearsal. */
      readonly simulatedKey?: string;
    }
  | { readonly kind: 'anybody' }
  /** The endpoint is reachable only on its node, so clients need this tunnel. */
  | { readonly kind: 'tunnel'; readonly command: string };

type Width = Pick<Page, 'columns'>;

/** Settings to copy, one block per placement. Instead of a key, its source is shown. Only sentences are wrapped. */
const endpointsText = (all: readonly EndpointSettings[], width: Width): string =>
  pageText(
    all.length === 0
      ? [['The file has no placements.']]
      : alike(all, ({ placement, node, replicaOf }) => replicaOf ?? `${placement} ${node}`).flatMap(([one, replicas]) =>
          blocksOf(one, replicas, width),
        ),
  );

/** One block for all replicas: the first one's, with the URLs of the others. */
function blocksOf(
  first: EndpointSettings,
  replicas: readonly EndpointSettings[],
  width: Width,
): readonly (readonly string[])[] {
  const { placement, replicaOf = placement } = first;
  const one = replicas.length > 1 ? { ...first, placement: replicaOf } : first;
  return [
    headLines(one, replicas, width),
    curlLines(one),
    webUiLines(one, width),
    openCodeLines(one),
    xcodeLines(one, width),
  ];
}

function headLines(
  one: EndpointSettings,
  replicas: readonly EndpointSettings[],
  { columns }: Width,
): readonly string[] {
  const { placement, url, model, access, fallback, exposed = [] } = one;
  return [
    `${placement}${fallback === true ? ' on its fallback' : ''}: ${url}/v1`,
    ...replicas.slice(1).map((other) => `  or     ${other.url}/v1`),
    `  model  ${model}`,
    ...hang('  on     ', replicas.map(({ node }) => node).join(', '), columns),
    ...hang('  key    ', keyText(access), columns),
    ...(access.kind === 'tunnel' ? [`  tunnel ${access.command}`] : []),
    ...exposed.flatMap((words) => hang('  open   ', words, columns)),
  ];
}

function keyText(access: EndpointAccess): string {
  if (access.kind === 'key' && access.simulatedKey !== undefined)
    return `${access.simulatedKey} (only in this rehearsal)`;
  if (access.kind === 'key')
    return `from ${secretSourceText(access.source).replaceAll(' ', firmSpace)} (never printed)`;
  return 'not needed (if a program insists on a key, enter anything)';
}

/**
 * A command that pipes the header with the key to curl. This keeps the key out of the shell history and, because
 * `printf` is a shell builtin, out of the process list. Uses `$API_KEY` if no short command prints the key.
 */
function headerPrinter(access: EndpointAccess): string | undefined {
  if (access.kind !== 'key') return undefined;
  const { source, simulatedKey } = access;
  const isPlain = source.kind === 'file' && !/[\n'"$`\\]/.test(source.path);
  const fileKey = isPlain ? `$(cat "${source.path}")` : '$API_KEY';
  const key = simulatedKey ?? (source.kind === 'env' ? `$${source.name}` : fileKey);
  return `printf 'Authorization: Bearer %s\\n' "${key}"`;
}

function curlLines({ url, model, takesPrompt, access }: EndpointSettings): readonly string[] {
  const header = headerPrinter(access);
  const asked = takesPrompt ? { prompt: 'Hello' } : { messages: [{ role: 'user', content: 'Hello' }] };
  const body = JSON.stringify({ model, ...asked });
  return [
    '  curl',
    ...(header === undefined ? [] : [`    ${header} |`]),
    `    curl ${url}/v1/${takesPrompt ? '' : 'chat/'}completions \\`,
    ...(header === undefined ? [] : ['      -H @- \\']),
    "      -H 'Content-Type: application/json' \\",
    `      -d '${body}'`,
  ];
}

const anyKey = (access: EndpointAccess): string =>
  access.kind === 'key' ? (access.simulatedKey ?? 'the key') : 'anything';

const webUiLines = ({ url, model, access }: EndpointSettings, { columns }: Width): readonly string[] => [
  ...hang('  Open WebUI: ', 'Admin Panel, Settings, Connections, OpenAI API', columns),
  `    URL                  ${url}/v1`,
  `    API Key              ${anyKey(access)}`,
  `    Advanced, Model IDs  ${model}`,
];

function openCodeLines({ placement, url, model, contextTokens, access }: EndpointSettings): readonly string[] {
  const config = {
    $schema: 'https://opencode.ai/config.json',
    provider: {
      [placement]: {
        npm: '@ai-sdk/openai-compatible',
        name: placement,
        options: { baseURL: `${url}/v1`, apiKey: openCodeKey(access) },
        models: {
          [model]: {
            name: model,
            limit: { context: contextTokens, output: Math.min(Math.floor(contextTokens / 2), 8_192) },
          },
        },
      },
    },
  };
  const lines = JSON.stringify(config, null, 2).split('\n');
  return ['  OpenCode: opencode.json', ...lines.map((line) => `    ${line}`)];
}

function openCodeKey(access: EndpointAccess): string {
  if (access.kind !== 'key') return 'none';
  const { source, simulatedKey } = access;
  if (simulatedKey !== undefined) return simulatedKey;
  if (source.kind === 'env') return `{env:${source.name}}`;
  return source.kind === 'file' ? `{file:${source.path}}` : '{env:API_KEY}';
}

const xcodeLines = ({ url, access }: EndpointSettings, { columns }: Width): readonly string[] => [
  ...hang('  Xcode: ', 'Settings, Intelligence, Add a Model Provider, Internet Hosted', columns),
  `    URL             ${url}`,
  `    API Key         ${anyKey(access)}`,
  '    API Key Header  x-api-key',
];
