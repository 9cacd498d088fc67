import { type SecretSource, secretSourceText } from '../../model/secret.ts';

/** One endpoint as clients have to be told of it. Holds no key. */
export interface EndpointSettings {
  readonly placement: string;
  readonly node: string;
  /** `http://studio-1.lan:8080`; on this computer where a tunnel is needed. */
  readonly url: string;
  /** What clients send as `model`. */
  readonly model: string;
  readonly contextTokens: number;
  /** Set where this is how it is reached on its fallback alone. */
  readonly fallback?: true;
  /** Whether the endpoint takes a prompt and no chat. */
  readonly takesPrompt: boolean;
  readonly access: EndpointAccess;
  /** How others get in past the key, or read it; one sentence each, absent for none. */
  readonly exposed?: readonly string[];
}

/** Who gets in, and by what. */
export type EndpointAccess =
  | { readonly kind: 'key'; readonly source: SecretSource }
  | { readonly kind: 'anybody' }
  /** Only its node reaches it: clients need this tunnel, open as long as they ask. */
  | { readonly kind: 'tunnel'; readonly command: string };

/** Settings to be copied, one block for each placement. Keys are named by where they come from. */
export const endpointsText = (all: readonly EndpointSettings[]): string =>
  all.length === 0 ? 'The file has no placement.\n' : `${all.map(blockOf).join('\n\n')}\n`;

function blockOf(one: EndpointSettings): string {
  const parts = [headLines(one), curlLines(one), webUiLines(one), openCodeLines(one), xcodeLines(one)];
  return parts.map((lines) => lines.join('\n')).join('\n\n');
}

const headLines = ({
  placement,
  node,
  url,
  model,
  access,
  fallback,
  exposed = [],
}: EndpointSettings): readonly string[] => [
  `${placement}${fallback === true ? ' on its fallback' : ''}: ${url}/v1`,
  `  model  ${model}`,
  `  on     ${node}`,
  `  key    ${keyText(access)}`,
  ...(access.kind === 'tunnel' ? [`  tunnel ${access.command}`] : []),
  ...exposed.map((one) => `  open   ${one}`),
];

function keyText(access: EndpointAccess): string {
  if (access.kind === 'key') return `that of ${secretSourceText(access.source)}; it is shown nowhere`;
  return 'none is asked for; programs that insist on one take any';
}

/**
 * What prints the header with the key, for the standard input of curl: so the key stands in no history, and in no list of
 * processes, since shells have `printf` built in. A placeholder where no short form gives the key.
 */
function headerPrinter(access: EndpointAccess): string | undefined {
  if (access.kind !== 'key') return undefined;
  const { source } = access;
  const isPlain = source.kind === 'file' && !/[\n'"$`\\]/.test(source.path);
  const fileKey = isPlain ? `$(cat "${source.path}")` : '$API_KEY';
  return `printf 'Authorization: Bearer %s\\n' "${source.kind === 'env' ? `$${source.name}` : fileKey}"`;
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

const anyKey = (access: EndpointAccess): string => (access.kind === 'key' ? 'the key' : 'anything');

const webUiLines = ({ url, model, access }: EndpointSettings): readonly string[] => [
  '  Open WebUI: Admin Panel, Settings, Connections, OpenAI API',
  `    URL        ${url}/v1`,
  `    API Key    ${anyKey(access)}`,
  `    Model IDs  ${model}`,
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
  const { source } = access;
  if (source.kind === 'env') return `{env:${source.name}}`;
  return source.kind === 'file' ? `{file:${source.path}}` : '{env:API_KEY}';
}

const xcodeLines = ({ url, access }: EndpointSettings): readonly string[] => [
  '  Xcode: Settings, Intelligence, Add a Model Provider, Internet Hosted',
  `    URL             ${url}`,
  `    API Key         ${anyKey(access)}`,
  '    API Key Header  x-api-key',
];
